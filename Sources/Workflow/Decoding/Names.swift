/// The rules for names of steps and groups.
enum StepName {
    static let lengthLimit = 128

    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.first, bytes.count <= lengthLimit, first != UInt8(ascii: "-") else { return false }
        for byte in bytes where !isLetter(byte) { return false }
        return true
    }

    /// The name with every refused character replaced by `-`.
    static func suggestion(for text: String) -> String? {
        var name = ""
        for scalar in text.unicodeScalars {
            let isKept = scalar.isASCII && isLetter(UInt8(scalar.value)) && !(name.isEmpty && scalar == "-")
            if isKept { name.unicodeScalars.append(scalar) } else if !name.isEmpty, name.last != "-" { name += "-" }
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? nil : String(name.prefix(lengthLimit))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

/// The rules for names of environment variables.
package enum VariableName {
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy(isLetter)
    }

    /// True for a byte that a name may have, although not necessarily as the first.
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
    }

    /// True for a variable that flowrun sets itself.
    package static func isFlowruns(_ name: String) -> Bool { name.hasPrefix("FLOWRUN_") }

    /// True for a name that has a meaning of its own in expressions, so that no fan-out variable may have it.
    static func isOfExpressions(_ name: String) -> Bool { name == "args" || name == "vars" }

    /// True for a variable that changes how programs or the shell behave, so that no loop may set it.
    package static func isListenedTo(_ name: String) -> Bool {
        listenedTo.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    private static let prefixes = ["FLOWRUN_", "LD_", "BASH_", "GLIBC_"]
    private static let listenedTo: Set<String> = [
        "PATH", "IFS", "ENV", "HOME", "SHELL", "PWD", "OLDPWD", "CDPATH", "SHELLOPTS", "BASHOPTS", "PS4",
        "PROMPT_COMMAND", "TMPDIR", "USER", "LOGNAME", "TERM", "LANG", "MAKEFLAGS", "PYTHONPATH", "PYTHONSTARTUP",
        "PERL5LIB", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS",
    ]
}
