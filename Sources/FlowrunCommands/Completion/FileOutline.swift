internal import Glibc
internal import Planning
internal import Syntax
internal import Workflow

/// The parts of a workflow file that completion needs. A file with mistakes has an outline too, because names are
/// completed while the file is being edited.
struct FileOutline {
    /// Larger files take too long to read for completion.
    private static let sizeLimit = 512 << 10
    /// For larger files the instances of fan-outs are not listed, because that takes a plan.
    private static let planLimit = 64 << 10

    let workflow: Workflow
    /// Steps and groups in the order of the file, instances after their fan-out.
    let steps: [(id: String, help: String)]

    /// Returns nil if there is no file, or none that can be read in time. Changes to the folder given on the command
    /// line.
    init?(_ arguments: Arguments) {
        for folder in arguments.values(.folder) where chdir(folder) != 0 { return nil }
        guard let path = WorkflowChoice.known(arguments, arguments.operands[...])?.file else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.sizeLimit else {
            return nil
        }
        let (file, unreadable) = SourceFile.read(path)
        guard unreadable == nil,
            let workflow = WorkflowDecoder.read(file, files: UsedFiles.of(path, allowsOutside: true)).workflow
        else { return nil }
        self.workflow = workflow
        func help(of node: NodeIndex) -> String {
            let settings = workflow.settings(of: node)
            return settings?.description ?? settings?.name ?? ""
        }
        if status.st_size <= Self.planLimit, let plan = Planner.plan(workflow, known: .none).plan {
            steps = plan.nodes.dropFirst().map { ($0.id, help(of: $0.definition)) }
        } else {
            steps = workflow.nodes.indices.dropFirst().map { row in
                (workflow.path(of: NodeIndex(row)), help(of: NodeIndex(row)))
            }
        }
    }
}
