package import SourceDiagnostics
package import WorkflowModel
package import WorkflowPlanning
internal import YAMLSyntax

/// From a file's name to a plan: the one way that every command goes, so that what `check` accepts is what `run` runs.
package struct WorkflowLoader {
    /// What is known of the file; nil where its text is no workflow at all.
    package let workflow: Workflow?
    /// Nil where there is an error among the findings.
    package let plan: Plan?
    /// All findings of the file, in the order of their places.
    package let diagnostics: [Diagnostic]

    /// `path` may be `-` for standard input.
    package init(_ path: String) {
        let (file, unreadable) = SourceFile.read(path)
        if let unreadable {
            self.init(workflow: nil, plan: nil, diagnostics: [unreadable])
            return
        }
        let (document, problems) = YAMLParser.parse(file)
        guard let document else {
            self.init(workflow: nil, plan: nil, diagnostics: problems.sortedByPlace())
            return
        }
        let (workflow, mistakes) = WorkflowDecoder.decode(document)
        let planned = workflow.map(Planner.plan)
        let all = problems + mistakes + (planned?.diagnostics ?? [])
        self.init(
            workflow: workflow, plan: all.containErrors ? nil : planned?.plan,
            diagnostics: all.count > 1 ? all.sortedByPlace() : all)
    }

    private init(workflow: Workflow?, plan: Plan?, diagnostics: [Diagnostic]) {
        self.workflow = workflow
        self.plan = plan
        self.diagnostics = diagnostics
    }
}
