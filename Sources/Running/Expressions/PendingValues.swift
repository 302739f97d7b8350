internal import Planning
internal import Processes

/// The values that evaluations may have to wait for: answers about files, and `vars` that commands make.
///
/// An evaluation that lacks a value ends without a result and begins once more when the value is there.
@EventLoopActor
final class PendingValues {
    let files: FileQuestions
    let shared = SharedValues()
    /// The reason why one of `vars` had no value in the last evaluation; nil if none that has failed was read.
    var failure: SharedFailure?

    init(_ files: FileQuestions) { self.files = files }

    /// True if the current evaluation lacks a value.
    var isMissing: Bool { files.isMissing || shared.missing != nil }

    /// Returns the value of `body` for a row; nil if it has to be evaluated once more. Then the caller makes the runner
    /// wait for what is missing at once, and what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        failure = nil
        shared.beginEvaluation()
        let value = files.evaluate(for: row, body)
        return shared.missing == nil ? value : nil
    }
}
