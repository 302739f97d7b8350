internal import Planning
internal import Processes

/// The values that evaluations may have to wait for: answers about files and the commands of `vars`.
///
/// An evaluation that lacks a value ends without a result and begins once more when the value is there.
@EventLoopActor
final class PendingValues {
    let files: FileQuestions
    let commands: SharedCommands
    /// The reason why one of `vars` had no value in the last evaluation; nil if none that has failed was read.
    var failure: SharedFailure?

    init(_ files: FileQuestions, _ commands: SharedCommands) {
        self.files = files
        self.commands = commands
    }

    /// True if the current evaluation lacks a value.
    var isMissing: Bool { files.isMissing || commands.isMissing }

    /// Returns the value of `body` for a row; nil if it has to be evaluated once more. Then the caller calls
    /// `wait(for:then:)` at once, and what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        failure = nil
        commands.beginEvaluation()
        let value = files.evaluate(for: row, body)
        return commands.isMissing ? nil : value
    }

    /// Makes the value that the last evaluation lacked and then calls `resume`, unless the row is forgotten before.
    /// `holdingSlot` is true for a step that already has its slot.
    func wait(for row: PlanIndex, holdingSlot: Bool = false, then resume: @escaping @EventLoopActor () -> Void) {
        guard files.isMissing else { return commands.wait(for: row, holdingSlot: holdingSlot, then: resume) }
        commands.beginEvaluation()
        files.ask(for: row, then: resume)
    }

    /// Ends the wait of a row. Returns false if it did not wait. The caller calls `beginNext` of `files`.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        let waitedForFiles = files.forget(row)
        return commands.forget(row) || waitedForFiles
    }

    /// Ends the wait of a row and calls `done` once a command that is stopped with it has ended.
    func leave(_ row: PlanIndex, then done: @escaping @EventLoopActor () -> Void) {
        files.forget(row)
        commands.forget(row, whenGone: done)
    }
}
