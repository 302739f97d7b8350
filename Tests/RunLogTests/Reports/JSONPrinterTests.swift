import RunLog
import Syntax
import Testing

@Suite struct JSONPrinterTests {
    private let file = SourceFile(name: "a.yml", text: "ä: [compil]\nb: \"x\ny\"\n")

    @Test func `no findings are an empty array`() {
        #expect(JSONPrinter.text([]) == "[]\n")
    }

    @Test func `a finding has its place in scalars, its notes and its fix`() {
        let word = SourceRange(5..<11)
        let finding = Diagnostic(
            .unknownDependency, "unknown dependency `compil`", in: file, at: word,
            notes: [.init("did you mean `compile`?", at: SourceRange(0..<1)), .init("no place")],
            fix: .init("write `compile`", edits: [.init(range: word, replacement: "compile")]))
        #expect(
            JSONPrinter.text([finding]) == """
                [{"severity":"error","code":"FR0203","message":"unknown dependency `compil`","file":"a.yml",\
                "line":1,"column":5,"end_line":1,"end_column":11,"notes":[{"message":"did you mean `compile`?",\
                "file":"a.yml","line":1,"column":1},{"message":"no place","file":null,"line":null,"column":null}],\
                "fix":{"description":"write `compile`","edits":[{"line":1,"column":5,"end_line":1,"end_column":11,\
                "replacement":"compile"}]}}]

                """)
    }

    @Test func `a range over lines ends in its last one, and no fix is null`() {
        let finding = Diagnostic(.wrongType, "text", in: file, at: SourceRange(16..<21), severity: .warning)
        #expect(
            JSONPrinter.text([finding]) == """
                [{"severity":"warning","code":"FR0205","message":"text","file":"a.yml","line":2,"column":4,\
                "end_line":3,"end_column":3,"notes":[],"fix":null}]

                """)
    }
}
