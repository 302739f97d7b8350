internal import Planning
internal import Processes

/// What evaluations may have to wait for: answers about files and the commands of `vars`.
///
/// An evaluation that lacks something ends without a value and begins once more when it is there.
@EventLoopActor
final class PendingValues {
    let files: FileQuestions
    let commands: SharedCommands
    /// Why one of `vars` had no value in the last evaluation; nil if none was asked for that has failed.
    var failure: SharedFailure?

    init(_ files: FileQuestions, _ commands: SharedCommands) {
        self.files = files
        self.commands = commands
    }

    /// Whether the evaluation that goes on now lacks something.
    var isMissing: Bool { files.isMissing || commands.isMissing }

    /// What `body` evaluates for a row. nil if it has to begin once more: then the caller calls `wait(for:then:)` at
    /// once, and what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        failure = nil
        commands.beginEvaluation()
        let value = files.evaluate(for: row, body)
        return commands.isMissing ? nil : value
    }

    /// Makes the values that the last evaluation lacked and then calls `resume`, unless the row is forgotten before.
    /// `holdingSlot`: for a step that has its slot already.
    func wait(for row: PlanIndex, holdingSlot: Bool = false, then resume: @escaping @EventLoopActor () -> Void) {
        guard files.isMissing else { return commands.wait(for: row, holdingSlot: holdingSlot, then: resume) }
        commands.beginEvaluation()
        files.ask(for: row, then: resume)
    }

    /// Ends the wait of a row. Returns false if it did not wait. The caller sees to `beginNext` of `files`.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        let waitedForFiles = files.forget(row)
        return commands.forget(row) || waitedForFiles
    }

    /// The same for one whose end waits for that of a command that is stopped with it.
    func leave(_ row: PlanIndex, then done: @escaping @EventLoopActor () -> Void) {
        files.forget(row)
        commands.forget(row, whenGone: done)
    }
}
