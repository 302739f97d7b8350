/// The definitions that make has without a file.
enum MakeBuiltIn {
    /// A function of ours: the value of a variable of the environment.
    static let inherited = "inherited environment"

    /// A function of ours: the same with a blank behind it, but empty without a value.
    static let inheritedBefore = "inherited beginning"
    /// A function of ours: `yes` if its arguments are equal.
    static let equal = "equal-values"
    /// A variable of ours: the sign that separates arguments.
    static let comma = ","

    /// The variables that make defines, so that `?=` leaves them.
    static let defined = [
        "CC": "cc", "CXX": "g++", "AR": "ar", "LD": "ld", "AS": "as", "CPP": "$(CC) -E", "FC": "f77", "RM": "rm -f",
        "ARFLAGS": "rv", "LEX": "lex", "YACC": "yacc", "LINT": "lint", "MAKEINFO": "makeinfo", "TEX": "tex",
        "TEXI2DVI": "texi2dvi", "WEAVE": "weave", "TANGLE": "tangle", "PC": "pc", "M2C": "m2c", "CO": "co",
        "GET": "get", "MAKE": "make",
    ]
    static let others = [
        "CFLAGS": "", "CXXFLAGS": "", "CPPFLAGS": "", "LDFLAGS": "", "LDLIBS": "", "LOADLIBES": "", "TARGET_ARCH": "",
        "ASFLAGS": "", "TARGET_MACH": "", "SHELL": "sh", "OS": "",
    ]
    /// Those that the environment may give other values.
    static let fromEnvironment: Set<String> = [
        "CC", "CXX", "AR", "LD", "AS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "LEX", "YACC", "FC",
        "LOADLIBES", "ASFLAGS",
    ]

    static func value(of name: String) -> String? { defined[name] ?? others[name] }

    /// The reference to the value that a variable has before the makefile sets it.
    static func before(_ name: String) -> String {
        if !fromEnvironment.contains(name), let value = value(of: name) { return value }
        return "$(\(inherited) \(name))"
    }

    /// The variable that a function of ours reads.
    static func name(in reference: String, after function: String) -> String? {
        guard reference.hasPrefix(function) else { return nil }
        let name = reference.dropFirst(function.count).trimmed
        return MakeVariables.isName(name) ? name : nil
    }

    /// The output of a command that is the same wherever flowrun runs.
    static func output(of command: String) -> String? {
        let plain = command.replacing("2>/dev/null", with: "").replacing("|| echo Unknown", with: "")
            .replacing("|| echo not", with: "").trimmed
        let words = withoutEdits(
            plain.replacing("|| echo unknown", with: "").replacing("|| echo false", with: "").words
                .joined(separator: " ").replacing(" '", with: "'"))
        if ["uname", "uname -s", "sh -c'uname'", "sh -c'uname -s'"].contains(words) { return "Linux" }
        let isLowered = ["| tr'[A-Z]''[a-z]'", "| tr A-Z a-z", "| tr'[:upper:]''[:lower:]'"].contains { tail in
            ["uname \(tail)", "uname -s \(tail)"].contains(words)
        }
        if isLowered { return "linux" }
        let parts = words.words
        guard parts.count == 5 || parts.count == 4, parts[0] == "echo",
            parts[2...].joined() == "|tr'[:upper:]''[:lower:]'",
            parts[1].allSatisfy({ $0.isVariableCharacter || "-.".contains($0) })
        else { return nil }
        return parts[1].lowercased()
    }

    /// Without a `sed` that changes the names of other systems only.
    private static func withoutEdits(_ command: String) -> String {
        guard let (command, edit) = command.cut(at: " | sed's/") else { return command }
        let name = edit.drop { "\\(^".contains($0) }.prefix { $0.isUppercase || $0 == "_" }
        return name.count > 2 && !edit.contains("\\|") && !edit.contains(";") ? command : "\(command) | sed"
    }

    /// A command that changes files while make reads the makefile, and whose output is of no importance; nil if there
    /// is none.
    static func change(in assignment: MakeAssignment) -> String? {
        let texts = assignment.sign == "!=" ? [assignment.value] : commands(in: assignment.value)
        guard assignment.sign.hasPrefix(":") || assignment.sign == "!=" else { return nil }
        return texts.map(\.trimmed).first { changing.contains($0.words.first ?? "") }
    }

    private static let changing: Set<String> = [
        "mkdir", "touch", "rm", "cp", "mv", "ln", "chmod", "install", "curl", "wget", "npm", "yarn", "pip", "pip3",
        "make", "$(MAKE)", "unzip", "tar",
    ]

    private static func commands(in text: String) -> [String] {
        MakePiece.pieces(of: text).flatMap { piece -> [String] in
            guard case .reference(let reference) = piece else { return [] }
            if reference.hasPrefix("shell ") { return [String(reference.dropFirst(6))] }
            return reference.contains("$") ? commands(in: reference) : []
        }
    }

    /// True for a command that prints one line.
    static func printsOneLine(_ command: String) -> Bool {
        let words = command.words
        guard let first = words.first, !command.contains("\n"), !ShellShape(command).hasSeveral else { return false }
        if first == "git", words.count > 1 {
            return ["describe", "rev-parse", "branch", "config", "symbolic-ref"].contains(words[1])
                || words.contains("-1") || words.contains("-n1") || words.contains("--count")
        }
        if words.suffix(2) == ["wc", "-l"] || command.contains("head -1") || command.contains("head -n1")
            || command.contains("head -n 1") || command.contains("tail -1")
        {
            return true
        }
        return [
            "date", "whoami", "hostname", "uname", "pwd", "nproc", "id", "which", "basename", "dirname", "realpath",
            "readlink", "mktemp", "arch", "tput", "pkg-config", "command",
        ].contains(first)
            || first == "echo" && !command.contains("|") && !command.contains("$(")
    }
}
