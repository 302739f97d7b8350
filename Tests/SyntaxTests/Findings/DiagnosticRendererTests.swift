import FlowrunTestSupport
import Syntax
import Testing

struct `A rendered finding` {
    private func render(
        _ marked: String, length: Int = 1, color: Bool = false, notes: (MarkedText) -> [Diagnostic.Note] = { _ in [] }
    ) -> String {
        let text = MarkedText(marked)
        let start = text.offsets["1️⃣"]!
        let finding = Diagnostic(
            .unknownDependency, "unknown dependency `compil`", in: text.file, at: SourceRange(start..<start + length),
            notes: notes(text), fix: .init("write `compile`"))
        return DiagnosticRenderer(color: color).render([finding])
    }

    @Test func `has a place, an excerpt with carets, notes and a fix`() {
        let rendered = render("steps:\n  2️⃣compile:\n    needs: [1️⃣compil]\n", length: 6) { text in
            let start = text.offsets["2️⃣"]!
            return [.init("`compile` stands here", at: SourceRange(start..<start + 7)), .init("ids are exact")]
        }
        #expect(
            rendered == """
                test.yml:3:13: error[FR0203]: unknown dependency `compil`
                  3 |     needs: [compil]
                    |             ^^^^^^
                  note: test.yml:2:3: `compile` stands here
                  2 |   compile:
                    |   ^^^^^^^
                  note: ids are exact
                  fix: write `compile`

                """)
    }

    @Test func `draws a place only once`() {
        let rendered = render("a: 1️⃣b\n") { text in
            let start = text.offsets["1️⃣"]!
            return [.init("the same", at: SourceRange(start..<start + 1))]
        }
        #expect(rendered.hasSuffix("  1 | a: b\n    |    ^\n  note: the same\n  fix: write `compile`\n"))
    }

    @Test func `lines up the numbers of its excerpts`() {
        let text = "2️⃣a: 1\n" + String(repeating: "#\n", count: 98) + "1️⃣b: 2\n"
        let rendered = render(text) { text in [.init("first", at: SourceRange(text.offsets["2️⃣"]!..<1))] }
        #expect(rendered.contains("\n  100 | b: 2\n      | ^\n"))
        #expect(rendered.contains("\n    1 | a: 1\n      | ^\n"))
    }

    @Test(arguments: [
        ("\ta:\t1️⃣b\n", 1, "    a:  b", "        ^"),
        ("日本: 1️⃣語x\n", 3, "日本: 語x", "      ^^"),
        ("e\u{301}: 1️⃣x\n", 1, "e\u{301}: x", "   ^"),
        ("a\u{1B}[1m: 1️⃣\u{7F}\n", 1, "a␛[1m: ␡", "       ^"),
        ("a: 1️⃣\u{202E}x\n", 3, "a: \u{FFFD}x", "   ^"),
        ("a: 1️⃣x\r\nb\r\n", 9, "a: x", "   ^"),
        ("a:1️⃣\n", 0, "a:", "  ^"),
        ("a1️⃣", 9, "a", " ^"),
    ])
    func `keeps its carets under what they mean`(text: String, length: Int, line: String, carets: String) {
        let lines = render(text, length: length).split(separator: "\n")
        #expect(lines[1] == "  1 | \(line)")
        #expect(lines[2] == "    | \(carets)")
    }

    @Test func `cuts a long line around the carets`() {
        let far = String(repeating: "x", count: 20_000)
        let lines = render(far + " 1️⃣word " + far, length: 4).split(separator: "\n")
        #expect(lines[0].hasPrefix("test.yml:1:20002: "))
        #expect(lines[1].hasPrefix("  1 | …xxx") && lines[1].hasSuffix("xxx…") && lines[1].contains(" word "))
        #expect(lines[1].count < 120)
        let caret = lines[2].prefix { $0 != "^" }.count
        #expect(lines[1].dropFirst(caret).hasPrefix("word"))
    }

    @Test func `shows a range over several lines by its first`() {
        #expect(render("1️⃣a:\n  b: 1\n", length: 8).contains("  1 | a:\n    | ^^\n"))
    }

    @Test func `about a whole file has no line`() {
        let file = SourceFile(name: "none.yml", bytes: [])
        let finding = Diagnostic(.unreadableFile, "there is no such file", in: file, at: .beginning)
        #expect(DiagnosticRenderer().render([finding]) == "none.yml: error[FR0101]: there is no such file\n")
    }

    @Test func `is coloured only on demand, and never by the user's text`() {
        let rendered = render("a: 1️⃣b\n", color: true)
        #expect(rendered.contains("\u{1B}[1;31merror[FR0203]:\u{1B}[0m"))
        #expect(rendered.contains("\u{1B}[1;31m^\u{1B}[0m"))
        #expect(!render("a\u{1B}[31m: 1️⃣b\n").contains("\u{1B}"))
    }
}
