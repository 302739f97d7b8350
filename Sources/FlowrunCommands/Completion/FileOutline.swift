internal import Glibc
internal import Planning
internal import Syntax
internal import Workflow

/// What completion wants to know of the workflow file that a command line means. A file with mistakes has one too,
/// because it is while somebody writes that they look for names.
struct FileOutline {
    /// A larger file takes longer to read than a person wants to wait for a name.
    private static let sizeLimit = 512 << 10
    /// Above this the copies that fan-outs make are not listed: that takes a plan.
    private static let planLimit = 64 << 10

    let workflow: Workflow
    /// Steps and groups in the order of the file, copies behind what makes them.
    let steps: [(id: String, help: String)]

    /// nil where there is no file, or none that can be read in time. Changes to the folder that the line says.
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
