/// A command of a shell that stands where an expression is wanted: `test -f go.mod`, `[ -n "$CI" ]`.
struct ShellTest {
    /// The file whose existence the whole command asks for; nil for any other question.
    let file: String?
    let isNegated: Bool

    /// nil for what does not begin like a command.
    init?(_ text: String) {
        var words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        isNegated = words.first == "!"
        if isNegated { words.removeFirst() }
        guard let program = words.first, words.count > 1 else { return nil }
        switch program {
        case "test": words.removeFirst()
        case "[", "[[":
            guard words.last == (program == "[" ? "]" : "]]") else { return nil }
            words = Array(words.dropFirst().dropLast())
        case "command", "which", "grep":
            // Names of parameters and steps go on with a dot or an operator.
            guard let letter = words[1].first, letter == "-" || letter.isLetter || letter == "/" else { return nil }
            file = nil
            return
        default: return nil
        }
        let isQuestion = words.count == 2 && ["-f", "-e", "-r", "-s"].contains(words[0])
        let isPath = words.last?.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "._-/".utf8.contains(byte)
        }
        file = isQuestion && isPath == true ? words[1] : nil
    }
}
