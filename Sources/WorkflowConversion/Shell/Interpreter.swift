/// The program of a script's first line, as a command to which the script is appended.
enum Interpreter {
    /// nil if the line names no program that takes a script as an argument.
    static func command(ofFirstLine line: String) -> [String]? {
        guard line.hasPrefix("#!") else { return nil }
        var words = line.dropFirst(2).words
        if let first = words.first, first.hasSuffix("/env") {
            words.removeFirst()
            if words.first == "-S" { words.removeFirst() }
        }
        guard let program = words.first, let option = option(of: fileName(of: program)) else { return nil }
        return [words[0].hasPrefix("/") && isUsual(words[0]) ? fileName(of: program) : program] + words.dropFirst() + [
            option
        ]
    }

    /// The option before a script; nil for a program that takes none.
    static func option(of program: String) -> String? {
        switch program.prefix(while: { !$0.isNumber && $0 != "." }) {
        case "bash", "sh", "zsh", "dash", "ksh", "fish", "python", "nu": "-c"
        case "node", "ruby", "perl", "lua", "Rscript": "-e"
        case "php": "-r"
        default: nil
        }
    }

    private static func isUsual(_ path: String) -> Bool { path.hasPrefix("/bin/") || path.hasPrefix("/usr/bin/") }

    private static func fileName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// True if the program is a shell, which reads `$NAME`.
    static func isShell(_ program: String) -> Bool {
        ["bash", "sh", "zsh", "dash", "ksh"].contains(fileName(of: program))
    }
}
