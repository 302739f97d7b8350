internal import SourceDiagnostics

// Characters that other languages have, each with flowrun's word.
extension ExpressionLexer {
    /// Operators of other languages, longest first.
    private static let foreign: [(spelling: String, word: String?, hint: String)] = [
        ("===", "==", "equality is `==`"), ("!==", "!=", "inequality is `!=`"), ("<>", "!=", "inequality is `!=`"),
        ("=~", nil, "there are no patterns; see `contains`, `startsWith` and `endsWith`"),
        ("=", "==", "equality is `==`"), ("&", "&&", "\"and\" is `&&`"), ("|", "||", "\"or\" is `||`"),
        ("?", "??", "a default is `??`, and there is no `? :`"),
        ("+", nil, "there is no arithmetic; texts are put together with `format`, or side by side in a template"),
        ("-", nil, "there is no arithmetic"), ("/", nil, "there is no arithmetic"),
        ("%", nil, "there is no arithmetic"),
        ("$", nil, "variables are read by their name, `env.NAME` for those of flowrun's environment"),
        ("{", nil, "objects are not written, `fromJSON` reads one"), ("}", nil, "braces stand only around the whole"),
    ]

    func unexpectedCharacter() -> ExpressionProblem {
        if peek(0) == UInt8(ascii: "\"") { return doubleQuotes() }
        for (spelling, word, hint) in Self.foreign where text.bytes[offset..<end].starts(with: spelling.utf8) {
            let part = offset..<offset + spelling.utf8.count
            return ExpressionProblem(
                "`\(spelling)` is no operator of expressions", at: text.range(part),
                fix: word.map { text.replacing(part, by: $0, hint) } ?? .init(hint))
        }
        var last = offset + 1
        while last < end, text.bytes[last] & 0xC0 == 0x80 { last += 1 }
        return ExpressionProblem(
            "unexpected character \(Phrase.quoted(text.string(offset..<last)))", at: text.range(offset..<last),
            fix: .init("a text stands in single quotes"))
    }

    private func doubleQuotes() -> ExpressionProblem {
        let fix = "texts stand in single quotes"
        guard let close = text.bytes[(offset + 1)..<end].firstIndex(of: UInt8(ascii: "\"")) else {
            return ExpressionProblem(
                "a double quote begins no text", at: text.range(offset..<offset + 1), fix: .init(fix))
        }
        let content = text.string(offset + 1..<close)
        let quoted = content.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
        return ExpressionProblem(
            "a text in double quotes", at: text.range(offset..<close + 1),
            fix: text.replacing(offset..<close + 1, by: "'\(quoted)'", fix))
    }
}
