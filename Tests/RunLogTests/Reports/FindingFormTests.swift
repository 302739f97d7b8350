import FlowrunTestSupport
import Foundation
import RunLog
import Syntax
import Testing

/// The forms of findings for other programs.
@Suite struct FindingFormTests {
    private let file = SourceFile(name: "a b.yml", text: "ä: [compil]\nb: \"x\ny\"\n")
    private let word = SourceRange(5..<11)

    private var findings: [Diagnostic] {
        [
            Diagnostic(
                .unknownDependency, "unknown dependency `compil`", in: file, at: word,
                notes: [.init("did you mean `compile`?", at: SourceRange(0..<2)), .init("no place, 100%")],
                fix: .init("write `compile`", edits: [.init(range: word, replacement: "compile")])),
            Diagnostic(.wrongType, "text", in: file, at: SourceRange(16..<21), severity: .warning),
            Diagnostic(.unknownDependency, "again", in: file, at: SourceRange(0..<0), fix: .init("do it by hand")),
        ]
    }

    @Test func `SARIF has every finding with its rule, place, notes and fix`() throws {
        let text = SARIFPrinter.text(findings, version: "1.2.3")
        let log = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        #expect(log["version"]?.string == "2.1.0")
        let run = try #require(log["runs"]?.array?.first)
        #expect(run["columnKind"]?.string == "unicodeCodePoints")
        let driver = run["tool"]?["driver"]
        #expect(driver?["name"]?.string == "flowrun" && driver?["version"]?.string == "1.2.3")
        let rules = try #require(driver?["rules"]?.array)
        #expect(rules.map { $0["id"]?.string } == ["FR0203", "FR0205"])
        #expect(rules.allSatisfy { $0["help"]?["text"]?.string?.isEmpty == false })
        let results = try #require(run["results"]?.array)
        #expect(results.map { $0["ruleId"]?.string } == ["FR0203", "FR0205", "FR0203"])
        #expect(results.map { $0["ruleIndex"]?.int } == [0, 1, 0])
        #expect(results.map { $0["level"]?.string } == ["error", "warning", "error"])
        #expect(results[0]["message"]?["text"]?.string == "unknown dependency `compil`; no place, 100%")
        let place = try #require(results[0]["locations"]?.array?.first?["physicalLocation"])
        #expect(place["artifactLocation"]?["uri"]?.string == "a%20b.yml")
        let region = ["startLine", "startColumn", "endLine", "endColumn"]
        #expect(region.map { place["region"]?[$0]?.int } == [1, 5, 1, 11])
        let related = try #require(results[0]["relatedLocations"]?.array)
        #expect(related.map { $0["message"]?["text"]?.string } == ["did you mean `compile`?"])
        #expect(region.map { related[0]["physicalLocation"]?["region"]?[$0]?.int } == [1, 1, 1, 2])
        let change = try #require(results[0]["fixes"]?.array?.first?["artifactChanges"]?.array?.first)
        #expect(change["replacements"]?.array?.first?["insertedContent"]?["text"]?.string == "compile")
        // One that only a person can make is none for a program.
        #expect(results[2]["fixes"] == nil)
    }

    @Test func `SARIF names a file by a URI`() {
        for (name, uri) in [("/x/ä.yml", "file:///x/%C3%A4.yml"), ("<stdin>", "stdin"), ("a/b-c_1.yml", "a/b-c_1.yml")]
        {
            let file = SourceFile(name: name, text: "x\n")
            let text = SARIFPrinter.text([Diagnostic(.wrongType, "x", in: file, at: SourceRange(0..<1))], version: "1")
            #expect(text.contains("\"artifactLocation\":{\"uri\":\"\(uri)\"}"), "\(text)")
        }
    }

    @Test func `annotations are one line each, whatever is in them`() {
        #expect(
            GitHubAnnotations.text(findings) == """
                ::error file=a b.yml,line=1,endLine=1,col=5,endColumn=11,title=FR0203::unknown dependency `compil`%0A\
                note: a b.yml:1: did you mean `compile`?%0Anote: no place, 100%25%0Afix: write `compile`
                ::warning file=a b.yml,line=2,endLine=3,col=4,endColumn=3,title=FR0205::text
                ::error file=a b.yml,line=1,endLine=1,col=1,endColumn=1,title=FR0203::again%0Afix: do it by hand

                """)
        let file = SourceFile(name: "x,y:z.yml", text: "x\n")
        let finding = Diagnostic(.wrongType, "x", in: file, at: SourceRange(0..<1))
        #expect(GitHubAnnotations.text([finding]).hasPrefix("::error file=x%2Cy%3Az.yml,"))
    }
}
