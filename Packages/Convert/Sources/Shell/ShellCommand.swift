/// A command that another tool runs in a shell of its own.
struct ShellCommand {
    var text: String
    /// True if the tool goes on after its failure.
    var isTolerated = false
    /// True if the next commands are meant to see its changes to the shell.
    var isShared = false

    /// Joins commands that had a shell each to one script: the changes of a command to its shell do not affect the
    /// next.
    static func script(_ commands: [ShellCommand]) -> String {
        commands.enumerated()
            .map { index, command in
                var text = command.text
                while text.last?.isWhitespace == true { text.removeLast() }
                let isLast = index == commands.count - 1
                guard command.isTolerated || !isLast && !command.isShared && changesShell(text) else { return text }
                let isSimple = !text.contains { "#\n;&|".contains($0) } && !text.hasSuffix("\\")
                let isLine = !text.contains("\n") && !text.contains("#") && !text.hasSuffix("\\")
                if command.isTolerated, isSimple { return "\(text) || true" }
                return (isLine ? "(\(text))" : "(\n\(text)\n)") + (command.isTolerated ? " || true" : "")
            }
            .joined(separator: "\n")
    }

    /// True if a command may leave its shell in another folder, with other variables, or ended.
    private static func changesShell(_ text: String) -> Bool {
        var isStart = true
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            for (index, part) in word.split(omittingEmptySubsequences: false, whereSeparator: isSeparator).enumerated()
            {
                if index > 0 { isStart = true }
                guard isStart, !part.isEmpty else { continue }
                if changing.contains(String(part)) || isAssignment(part) { return true }
                isStart = introducing.contains(String(part))
            }
        }
        return false
    }

    private static func isSeparator(_ character: Character) -> Bool { ";&|\n(){}".contains(character) }

    private static func isAssignment(_ word: Substring) -> Bool {
        guard let equals = word.firstIndex(of: "="), let first = word.first, !first.isNumber else { return false }
        let name = word[..<equals]
        return !name.isEmpty && (name.last == "+" ? name.dropLast() : name).allSatisfy(\.isVariableCharacter)
    }

    private static let changing: Set<String> = [
        "cd", "pushd", "popd", "export", "unset", "set", "exit", "exec", "umask", "trap", "shopt", "source", ".",
        "alias",
        "readonly", "declare", "local", "ulimit", "eval", "return", "shift", "read",
    ]
    private static let introducing: Set<String> = [
        "then", "else", "elif", "do", "if", "while", "until", "!", "time", "{",
    ]
}

/// A text as one word of a shell.
func shellWord(_ text: String) -> String {
    let isPlain = !text.isEmpty && text.allSatisfy { $0.isVariableCharacter || "-./:=@%+,".contains($0) }
    return isPlain ? text : "'\(text.replacing("'", with: "'\\''"))'"
}

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
