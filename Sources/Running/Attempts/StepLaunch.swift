internal import Planning
internal import Processes
internal import RunLog
internal import Syntax
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

    /// Returns the words of its command as the journal has them.
    func command(in context: RunContext) -> StepStarted.Command { context.options.secrets.masked(words) }

    /// Returns the event of its start.
    func event(for row: PlanIndex, attempt number: Int, pid: Int32, in context: RunContext) -> RunEvent.Kind {
        let secrets = context.options.secrets
        return .stepStarted(
            StepStarted { start in
                start.step = context.plan.nodes[row].id
                start.attempt = number
                start.pid = pid
                start.command = command(in: context)
                start.line = context.plan.line(of: row)
                start.item = context.plan.loopItem(of: row).map(secrets.masked)
                start.view = context.plan.logView(of: row).map(OutputView.init)
                start.name = context.plan.settings(of: row)?.name
            })
    }
}

/// The temporary files of one attempt of a step. Made once, though its command may be made several times.
@EventLoopActor
struct AttemptFiles {
    /// `$FLOWRUN_OUTPUT`; nil if the step declares no output that comes from it.
    private(set) var output: String?
    /// The file of a script for its own interpreter; nil if a shell reads the script.
    private(set) var script: String?
    /// The file in which the shell notes what fails; nil if it does not.
    var notes: NoteFile?
    private let folder: StepFiles

    init(in folder: StepFiles) { self.folder = folder }

    /// Makes those that the command needs.
    mutating func make(
        for words: StepStarted.Command, of step: String, _ declarations: [OutputDeclaration]
    ) throws(StepError) {
        if output == nil, declarations.contains(where: \.isInFile) { output = try folder.make() }
        if script == nil, case .script(let text) = words, Shebang(text) != nil {
            script = try folder.make(holding: text, of: step)
        }
    }

    /// Returns the bytes that the step has written to its output file.
    func takeOutput() throws(StepError) -> [UInt8] {
        guard let output else { return [] }
        return try folder.take(output, limit: OutputDeclaration.Kind.sizeLimit)
    }

    /// Returns the command that its shell has noted, the last to fail; a script of one command needs no note. nil if it
    /// is not known.
    func failedCommand(of pid: Int32, running body: WorkflowNode.Body, in file: SourceFile) -> FailedCommand? {
        guard self.script == nil, case .script(let script) = body, let text = ScriptText(script, in: file) else {
            return nil
        }
        guard let notes else { return text.onlyCommand }
        return notes.take().culprit(of: pid).flatMap(text.command)
    }

    mutating func drop() {
        if let output = output.take() { folder.drop(output) }
        if let script = script.take() { folder.drop(script) }
        notes.take()?.drop()
    }
}

extension OutputDeclaration {
    fileprivate var isInFile: Bool { if case .file = source { true } else { false } }
}
