internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

/// A command of a step that has been made and not yet started.
@EventLoopActor
struct StepLaunch {
    var command: ProcessCommand
    let notes: NoteFile?
    /// The digest of the step's definition; nil if there is none.
    let definition: String?
    private let words: StepStarted.Command

    /// `isRead` is true if the standard output of the step is read.
    init(
        of row: PlanIndex, attempt number: Int, round: Int?, isRead: Bool, _ files: inout AttemptFiles,
        _ parts: RunParts
    ) throws(StepError) {
        words = try parts.context.words(of: row)
        try files.make(for: words, of: parts.plan.nodes[row].id, parts.plan.settings(of: row)?.outputs ?? [])
        (command, notes, definition) = try parts.builder.command(
            for: row, words,
            CommandBuilder.Contribution(
                number: number, round: round, outputFile: files.output, scriptFile: files.script, isRead: isRead))
    }

    /// Returns the event of its start.
    func event(for row: PlanIndex, attempt number: Int, pid: Int32, in context: RunContext) -> RunEvent.Kind {
        let secrets = context.options.secrets
        return .stepStarted(
            StepStarted { start in
                start.step = context.plan.nodes[row].id
                start.attempt = number
                start.pid = pid
                start.command = secrets.masked(words)
                start.line = context.plan.line(of: row)
                start.item = context.plan.loopItem(of: row).map(secrets.masked)
                start.view = context.plan.logView(of: row).map(OutputView.init)
                start.name = context.plan.settings(of: row)?.name
            })
    }
}
