internal import RunEvents
internal import SourceDiagnostics

extension WorkflowRunner {
    /// How many steps a line names.
    private static let namesShown = 5

    /// Says, before anything starts, which hook makes which steps run again, and by which key it would not.
    func tellUndoingHooks() {
        for message in undoingHooks { recorder.record(.warning(code: "undone", message: message)) }
    }

    /// The same, a line for each hook.
    package var undoingHooks: [String] {
        (resumption?.undoingHooks(in: plan) ?? []).map { hook in
            let names = hook.steps.prefix(Self.namesShown)
            let more = hook.steps.count - names.count
            let steps =
                more > 0
                ? "\(names.map { "`\($0)`" }.joined(separator: ", ")) and \(more) more" : Phrase.all(names)
            return "the hook `\(hook.hook)` has started since: \(steps) will run again, with all that "
                + "needs them; a hook that undoes nothing says `undoes: []`, one that undoes less than its "
                + "body `undoes: [ids]`"
        }
    }
}
