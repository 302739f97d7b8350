internal import CLinux
package import Planning
package import Syntax
package import Workflow

/// From a file's name to a plan: the one way that every command goes, so that what `check` accepts is what `run` runs.
package struct WorkflowLoader {
    /// Nil if there is an error among the findings, and where only those were asked for.
    package let plan: Plan?
    /// All findings of the file, in the order of their places.
    package let diagnostics: [Diagnostic]
    private let file: SourceFile
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
    /// Taking it again costs a twentieth of the time for a file of 300,000 steps. If `showsEdits`, they are tried
    /// first.
    package static func check(
        _ path: String, allowsOutside: Bool = false, showsEdits: Bool = false
    ) -> WorkflowLoader {
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, Int32.max)
        let loaded = WorkflowLoader(path, allowsOutside) { (nil, Planner.findings(in: $0)) }
        return showsEdits ? loaded.checkingEdits(of: UsedFiles.of(path, allowsOutside: allowsOutside)) : loaded
    }

    /// The same findings, with only those edits that mend them.
    package func checkingEdits(of files: WorkflowFiles) -> WorkflowLoader {
        guard diagnostics.contains(where: { $0.fix?.edits.isEmpty == false }) else { return self }
        let file = file
        var check = EditCheck(size: file.all.reduce(0) { $0 + $1.bytes.count }) { changed, bytes in
            changed.name == file.name
                ? Self.findings(in: SourceFile(name: file.name, bytes: bytes), files: files)
                : Self.findings(
                    in: SourceFile(name: file.name, bytes: file.bytes), files: files.replacing(changed.name, by: bytes))
        }
        return WorkflowLoader(plan: plan, diagnostics: check.checked(diagnostics), file: file, workflow: workflow)
    }

    /// All findings of a text, in the order of their places.
    package static func findings(in file: SourceFile, files: WorkflowFiles) -> [Diagnostic] {
        WorkflowLoader(file, files) { (nil, Planner.findings(in: $0)) }.diagnostics
    }

    private init(
        _ path: String, _ allowsOutside: Bool, planner: (Workflow) -> (plan: Plan?, diagnostics: [Diagnostic])
    ) {
        let (file, unreadable) = SourceFile.read(path)
        if let unreadable {
            self.init(plan: nil, diagnostics: [unreadable], file: file, workflow: nil)
        } else {
            self.init(file, UsedFiles.of(path, allowsOutside: allowsOutside), planner: planner)
        }
    }

    private init(plan: Plan?, diagnostics: [Diagnostic], file: SourceFile, workflow: Workflow?) {
        self.plan = plan
        self.diagnostics = diagnostics
        self.file = file
        self.workflow = workflow
    }

    /// The workflow of a text.
    package init(
        _ file: SourceFile, _ files: WorkflowFiles, planner: (Workflow) -> (plan: Plan?, diagnostics: [Diagnostic])
    ) {
        var plan: Plan?
        let (known, found) = WorkflowDecoder.read(file, files: files)
        var findings = found
        if let known {
            let planned = planner(known)
            findings += planned.diagnostics
            plan = planned.plan
        }
        workflow = known
        self.file = file
        self.plan = findings.containErrors ? nil : plan
        let told = known?.explained(findings) ?? findings
        diagnostics = told.count > 1 ? told.sortedByPlace() : told
    }
}
