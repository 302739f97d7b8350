/// The first line of a script that names its interpreter, `#!/usr/bin/env python3`, read as the kernel reads it.
struct Shebang: Equatable {
    let interpreter: String
    /// Everything after the interpreter, as one word; nil if there is nothing.
    let argument: String?

    /// nil for a script without one.
    init?(_ script: String) {
        guard script.utf8.starts(with: "#!".utf8) else { return nil }
        let line = script.utf8.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let name = line.drop(while: isBlank).prefix { !isBlank($0) }
        guard !name.isEmpty else { return nil }
        var rest = line[name.endIndex...].drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        interpreter = String(Substring(name))
        argument = rest.isEmpty ? nil : String(Substring(rest))
    }

    /// Returns the words that start the script in a file.
    func command(for path: String, isTraced: Bool) -> [String] {
        var words = [interpreter]
        if let argument { words.append(argument) }
        // In `/bin/bash -e` after the shell, in `/usr/bin/env bash` after its name.
        if isTraced, let shell = words.firstIndex(where: TracedShell.isOne) { words.insert("-x", at: shell + 1) }
        return words + [path]
    }
}

/// Shells that show with `-x` what they execute.
enum TracedShell {
    /// Returns true if a program is one of them, by its name.
    static func isOne(_ program: String) -> Bool {
        let name = program.split(separator: "/").last ?? ""
        return ["bash", "sh", "dash", "ksh", "mksh", "zsh", "ash"].contains(name)
    }

    /// Returns a shell's words, `-c` the last of them, with `-x` before it; unchanged if it is none of these.
    static func words(_ shell: [String]) -> [String] {
        guard let program = shell.first, let last = shell.last, isOne(program), last.hasPrefix("-"), shell.count > 1
        else {
            return shell
        }
        return shell.dropLast() + ["-x", last]
    }
}
