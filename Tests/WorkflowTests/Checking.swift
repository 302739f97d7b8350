import FlowrunTestSupport
import Syntax
import Workflow

/// What parsing and decoding a marked text gives.
struct Checked {
    let marked: MarkedText
    let workflow: Workflow?
    let diagnostics: [Diagnostic]

    init(_ text: String) {
        self.init(MarkedText(text))
    }

    init(_ marked: MarkedText) {
        self.marked = marked
        let (document, problems) = YAMLParser.parse(marked.file)
        guard let document else {
            workflow = nil
            diagnostics = problems
            return
        }
        let decoded = WorkflowDecoder.decode(document)
        workflow = decoded.workflow
        diagnostics = (problems + decoded.diagnostics).sortedByPlace()
    }

    var summary: [String] { marked.summary(of: diagnostics) }
    var fixed: String { marked.applyingFixes(of: diagnostics) }

    func node(_ id: String) -> WorkflowNode? { workflow?.nodes.first { $0.id == id } }
}

/// The findings about a workflow of one step `a`, whose lines these are.
func checkStep(_ lines: String) -> Checked {
    let indented = lines.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "    \($0)" }
    return Checked("version: 1\nsteps:\n  a:\n" + indented.joined(separator: "\n") + "\n")
}
