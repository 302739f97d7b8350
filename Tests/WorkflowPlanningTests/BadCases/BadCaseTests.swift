import FlowrunTestSupport
import Foundation
import SourceDiagnostics
import Testing
import WorkflowModel
import WorkflowPlanning
import YAMLSyntax

/// The mistakes of ../shared/corpora/badcases.json, each through parser, decoder and planner.
@Suite(.enabled(if: PackageFolder.corpora != nil, "no bad cases at ../shared/corpora"))
struct `Bad cases` {
    struct BadCase: Decodable, CustomTestStringConvertible {
        let id: String
        let verdict: String
        let doc: JSONValue?
        let at: [String]?

        var testDescription: String { id }
    }

    /// Where flowrun's format decides otherwise than the corpus, or has no words for the mistake.
    static let otherwise: [String: String] = [
        "id-duplicate-in-group": "accept: ids are local to their group (DESIGN section 11)",
        "id-number": "accept: an id may begin with a digit and consist of digits (DESIGN section 4)",
        "id-missing": "skip: a step's id is the key it stands under, so that none can be missing",
    ]

    static let cases: [BadCase] = {
        guard let folder = PackageFolder.corpora,
            let data = FileManager.default.contents(atPath: "\(folder)/badcases.json")
        else { return [] }
        return (try? JSONDecoder().decode([BadCase].self, from: data)) ?? []
    }()

    private func findings(in file: SourceFile) -> [Diagnostic] {
        let (document, problems) = YAMLParser.parse(file)
        guard let document else { return problems }
        let (workflow, findings) = WorkflowDecoder.decode(document)
        return problems + findings + (workflow.map(Planner.findings) ?? [])
    }

    @Test func `are all there`() { #expect(Self.cases.count == 81) }

    @Test(arguments: cases)
    func `get their verdict, at their place`(badCase: BadCase) throws {
        let decision = Self.otherwise[badCase.id]?.prefix { $0 != ":" } ?? badCase.verdict[...]
        guard decision != "skip" else { return }
        let (file, places) = try workflow(of: badCase)
        let found = findings(in: file)
        let rendered = Comment(rawValue: DiagnosticRenderer().render(found))
        switch decision {
        case "accept": #expect(found.isEmpty, rendered)
        case "warn": #expect(!found.isEmpty && !found.containErrors, rendered)
        default: #expect(found.containErrors, rendered)
        }
        guard decision != "accept" else { return }
        for (name, place) in places {
            let isHit = found.contains { finding in
                let ranges = [finding.range] + finding.notes.compactMap(\.range)
                return ranges.contains { place.contains($0.lowerOffset) || place.lowerBound == $0.lowerOffset }
            }
            #expect(
                isHit,
                "no finding at \(name) in\n\(file.text(in: SourceRange(0..<file.bytes.count)).prefix(2000))\n\(rendered)"
            )
        }
    }

    private func workflow(of badCase: BadCase) throws -> (file: SourceFile, places: [(name: String, place: Range<Int>)])
    {
        guard let document = badCase.doc?.object else {
            let marked = MarkedText(try #require(badCaseTexts[badCase.id], "no text for this case"))
            return (marked.file, marked.offsets.map { (String($0.key), $0.value..<$0.value + 1) })
        }
        let neutral = NeutralWorkflow(document)
        let places = try (badCase.at ?? []).map { pointer in
            (pointer, try #require(neutral.places[pointer], "no place for \(pointer)"))
        }
        return (SourceFile(name: "test.yml", text: neutral.text), places)
    }
}
