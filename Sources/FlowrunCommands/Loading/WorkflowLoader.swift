internal import Basics
internal import CLinux
internal import Glibc
package import Planning
package import Syntax
package import Workflow

/// Loads a plan from a file. Every command loads in this way, so that whatever `check` accepts can be run.
package struct WorkflowLoader {
    /// nil if there is an error among the findings, and if only the findings were requested.
    package let plan: Plan?
    /// All findings of the file, in the order of their places.
    package let diagnostics: [Diagnostic]
    private let file: SourceFile
    // Freeing a large workflow, row by row, takes a while, so a caller that ends the process keeps it until then.
    private let workflow: Workflow?

    /// Loads a file for running or describing it. `path` may be `-` for standard input. `known` returns the known
    /// values of the workflow's parameters. If `allowsOutside`, the workflow may use files outside of its folder.
    package init(
        _ path: String, allowsOutside: Bool = false, known: (Workflow) -> KnownValues = { _ in .none }
    ) {
        self.init(path, allowsOutside) { Planner.plan($0, known: known($0)) }
    }

    /// Finds only what is wrong with the file, by the same checks without the resulting plan. For a process that ends
    /// afterwards: freed memory is kept, so that the checks reuse the memory of the nodes. Allocating it again costs
    /// a twentieth of the time for a file of 300,000 steps. If `showsEdits`, edits are tried first.
    package static func check(
        _ path: String, allowsOutside: Bool = false, showsEdits: Bool = false
    ) -> WorkflowLoader {
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, Int32.max)
        let loaded = WorkflowLoader(path, allowsOutside) { (nil, Planner.findings(in: $0)) }
        return showsEdits ? loaded.checkingEdits(of: UsedFiles.of(path, allowsOutside: allowsOutside)) : loaded
    }

    /// Returns the same findings, with only those edits that fix them.
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

    /// Returns all findings of a text, in the order of their places.
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

    /// Loads the workflow of a text.
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
        // Beside an error a note is of no interest.
        if findings.containErrors { findings.removeAll { $0.severity == .note } }
        let told = known?.explained(findings) ?? findings
        diagnostics = told.count > 1 ? told.sortedByPlace() : told
    }
}

/// Finds and reads the files that a workflow uses, relative to its own file.
enum UsedFiles {
    /// Returns the files of the workflow at a path. If the path is `-`, they are relative to the current folder.
    /// Unless `allowsOutside`, it provides only files that are inside of the workflow's folder after links are
    /// followed.
    static func of(_ path: String, allowsOutside: Bool) -> WorkflowFiles {
        let isStandardInput = path == "-"
        let slash = isStandardInput ? nil : path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = slash.map { String(path[...$0]) } ?? ""
        return WorkflowFiles(identity: { isStandardInput ? nil : resolvedPath(path) }) { way in
            let name = folder + way
            guard let identity = resolvedPath(name) else {
                let error = errno
                return .unreadable(error == ENOENT ? "there is no such file" : String(cString: strerror(error)))
            }
            guard allowsOutside || isInside(identity, folder) else { return .outside }
            let (file, problem) = SourceFile.read(name)
            if let problem { return .unreadable(problem.message) }
            return .found(identity: identity, name: name, bytes: file.bytes)
        }
    }

    private static func isInside(_ path: String, _ folder: String) -> Bool {
        guard let folder = resolvedPath(folder.isEmpty ? "." : folder) else { return false }
        return folder == "/" || path.hasPrefix("\(folder)/")
    }
}
