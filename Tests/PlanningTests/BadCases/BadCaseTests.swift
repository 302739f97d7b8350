import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

/// Mistakes of all kinds, each through parser, decoder and planner.
@Suite struct BadCaseTests {
    @Test func `there are as many cases as there were`() { #expect(BadCase.all.count >= 93) }

    @Test(arguments: BadCase.all)
    func `a mistake gets its verdict, at its place`(badCase: BadCase) {
        let marked = MarkedText(badCase.text)
        let found = findings(in: marked.file)
        let rendered = Comment(rawValue: DiagnosticRenderer().render(found))
        switch badCase.verdict {
        case .accept: #expect(found.isEmpty, rendered)
        case .warn: #expect(!found.isEmpty && !found.containErrors, rendered)
        case .reject: #expect(found.containErrors, rendered)
        }
        #expect((badCase.verdict == .accept) == marked.offsets.isEmpty, "a mistake has a place, and nothing else has")
        let places = found.flatMap { [$0.range] + $0.notes.compactMap(\.range) }.map(\.lowerOffset)
        for (marker, offset) in marked.offsets {
            #expect(places.contains(offset), "\(marker) is not named\n\(rendered)")
        }
    }

    private func findings(in file: SourceFile) -> [Diagnostic] {
        let (document, problems) = YAMLParser.parse(file)
        guard let document else { return problems }
        let (workflow, findings) = WorkflowDecoder.decode(document)
        return problems + findings + (workflow.map(Planner.findings) ?? [])
    }
}
