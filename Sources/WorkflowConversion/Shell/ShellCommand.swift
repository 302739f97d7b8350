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
