import FlowrunTestSupport
import Syntax
import Testing

@testable import WorkflowConversion

/// Whatever text is written, YAML reads it back as it was.
struct YAMLWriterTests {
    private static let texts = [
        "", " ", "a", "a b", "a: b", "a:", ":", "- a", "-", "--all", "-O2", "-1", "true", "No", "null", "~", "1", "1.5",
        "3.10", "1.2.3", "0x1F", "0o17", ".5", ".inf", "./run", "..", ".", "a #b", "#b", "'a'", "\"a\"", "it's",
        "\"it's\"",
        "[a]", "{a}", "a, b", "${{ x }}", "$HOME", "*.c", "&a", "!tag", "|", ">", "%d", "@x", "`x`", "?", "? a", "=",
        "<<",
        "a\nb", "\n", "a\n", "\na", "  a", "\ta", "a\t", "a\\", "\u{7}", "\u{85}", "\u{2028}x", "\u{FEFF}", "é", "🙂",
        "a\rb",
        "2001-01-01", "1:30", "+1", "1e3", "1_000", "y", "---", "...", "--- a", "a   b", "key: 'x' # y",
    ]

    private func read(_ entry: YAMLEntry) -> String? {
        let text = YAMLWriter([entry]).lines.map { $0 + "\n" }.joined()
        let (document, findings) = YAMLParser.parse(SourceFile(name: "x.yml", text: text))
        guard findings.isEmpty else { return nil }
        return document?.withRoot { root in
            let value = root.entries.first { _ in true }?.value
            return value.map { $0.kind == .sequence ? $0.elements.first { _ in true }?.text ?? "" : $0.text }
        }
    }

    @Test(arguments: texts)
    func `a text reads back as itself, alone and in a list`(_ text: String) {
        #expect(read(YAMLEntry("key", .text(text))) == text)
        #expect(read(YAMLEntry("key", .list([.text(text), .word("1")]))) == text)
        #expect(read(YAMLEntry(text.isEmpty ? "key" : text, .text("value"))) == "value")
    }

    @Test(arguments: texts)
    func `a text of a text's look is one`(_ text: String) throws {
        let yaml = YAMLWriter([YAMLEntry("key", .text(text))]).lines.map { $0 + "\n" }.joined()
        let document = try #require(YAMLParser.parse(SourceFile(name: "x.yml", text: yaml)).document)
        #expect(document.withRoot { root in root.entries.first { _ in true }?.value.type } == .string)
    }

    @Test func `scripts of any lines read back as themselves, but for the line ends behind them`() {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "a", "  ", "\t", "\n", "\n\n", "echo 'x'", "#", ": ", "if x; then", "- ", "${x}", "\"", "\\", "é", "|", "{",
            "\u{85}",
            "\u{7}",
        ]
        for _ in 0..<2000 {
            var script = (0..<Int.random(in: 1...8, using: &generator))
                .map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            while script.last?.isWhitespace == true { script.removeLast() }
            guard !script.isEmpty else { continue }
            var found = read(YAMLEntry("run", .script(script)))
            while found?.last == "\n" { found?.removeLast() }
            #expect(found == script, "\(YAMLWriter([YAMLEntry("run", .script(script))]).lines)")
        }
    }

    @Test func `a list that is too long for a line has a line for each of its items`() {
        let items = (1...30).map { "step-\($0)" }
        let lines = YAMLWriter([YAMLEntry("needs", .texts(items))]).lines
        #expect(lines == ["needs:"] + items.map { "  - \($0)" })
    }

    @Test func `a comment never ends its line`() {
        var writer = YAMLWriter()
        writer.comment(["a\rb\u{85}c\u{7}"])
        #expect(writer.lines == ["# a\\u{d}b\\u{85}c\\u{7}"])
    }
}
