internal import CLinux
package import SourceDiagnostics
package import WorkflowModel
package import WorkflowPlanning

/// From a file's name to a plan: the one way that every command goes, so that what `check` accepts is what `run` runs.
package struct WorkflowLoader {
    /// Nil if there is an error among the findings, and where only those were asked for.
    package let plan: Plan?
    /// All findings of the file, in the order of their places.
    package let diagnostics: [Diagnostic]
    // A large workflow takes a while to free, row by row; whoever ends the process keeps it until then.
    private let workflow: Workflow?

    /// Loads a file for running or describing it. `path` may be `-` for standard input; `known` says what is known of
    /// the values of the workflow's parameters, `allowsOutside` whether it may use files outside of its folder.
    package init(
        _ path: String, allowsOutside: Bool = false, known: (Workflow) -> KnownValues = { _ in .none }
    ) {
        self.init(path, allowsOutside) { Planner.plan($0, known: known($0)) }
    }

    /// Only what is wrong with the file, from the same checks without the plan they would lead to. For a process that
    /// ends afterwards: it keeps what it frees, so that the checks work in the memory of the nodes that were read.
    /// Taking it anew costs a twentieth of the time for a file of 300,000 steps.
    package static func check(_ path: String, allowsOutside: Bool = false) -> WorkflowLoader {
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, Int32.max)
        return WorkflowLoader(path, allowsOutside) { (nil, Planner.findings(in: $0)) }
    }

    private init(
        _ path: String, _ allowsOutside: Bool, planner: (Workflow) -> (plan: Plan?, diagnostics: [Diagnostic])
    ) {
        var plan: Plan?
        var known: Workflow?
        var findings: [Diagnostic] = []
        let (file, unreadable) = SourceFile.read(path)
        if let unreadable {
            findings = [unreadable]
        } else {
            (known, findings) = WorkflowDecoder.read(file, files: UsedFiles.of(path, allowsOutside: allowsOutside))
            if let known {
                let planned = planner(known)
                findings += planned.diagnostics
                plan = planned.plan
            }
        }
        workflow = known
        self.plan = findings.containErrors ? nil : plan
        let told = known?.explained(findings) ?? findings
        diagnostics = told.count > 1 ? told.sortedByPlace() : told
    }
}
