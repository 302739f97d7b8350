internal import Processes
internal import RunLog
internal import Syntax
internal import Workflow

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
