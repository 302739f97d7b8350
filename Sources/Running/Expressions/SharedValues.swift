internal import Planning
internal import Processes
internal import Workflow

/// The values of `vars` that commands make, each once in a run, when it is first read.
///
/// A command may take long, so an evaluation that reads the value of one that has not run ends without a value, and
/// begins once more when the value is there.
@EventLoopActor
final class SharedValues {
    private enum State {
        case ready(SharedLaunch)
        case running(SharedLaunch)
        case ended(Result<Value, SharedFailure>)
    }

    private var states: [SharedKey: State] = [:]
    /// The first value that the current evaluation lacks.
    private(set) var missing: SharedKey?

    /// Forgets what an evaluation lacked.
    func beginEvaluation() { missing = nil }

    /// Returns the result of the command; nil if it is not known yet. `make` makes the command the first time, and
    /// returns nil if it lacks something itself.
    func value(
        of key: SharedKey, making make: () throws(SharedFailure) -> SharedLaunch?
    ) -> Result<Value, SharedFailure>? {
        switch states[key] {
        case .ended(let result): return result
        case .ready, .running: break
        case nil:
            do {
                guard let launch = try make() else { return nil }
                states[key] = .ready(launch)
            } catch {
                states[key] = .ended(.failure(error))
                return .failure(error)
            }
        }
        missing = missing ?? key
        return nil
    }

    /// Returns the command that makes a value, to be started now; nil if it runs already.
    func begin(_ key: SharedKey) -> SharedLaunch? {
        guard case .ready(let launch)? = states[key] else { return nil }
        states[key] = .running(launch)
        return launch
    }

    /// Records the result of a command; nil if it was stopped, so that a later reader starts it again.
    func end(_ key: SharedKey, _ result: Result<Value, SharedFailure>?) {
        if let result {
            states[key] = .ended(result)
        } else if case .running(let launch)? = states[key] {
            states[key] = .ready(launch)
        }
    }

    /// Forgets values, so that the next reader has them made once more. Running commands go on.
    func forget(where isStale: (SharedKey) -> Bool) {
        states = states.filter { key, state in
            if case .running = state { true } else { !isStale(key) }
        }
    }
}

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

    /// Returns the value of `body` for a row; nil if it has to be evaluated once more. Then the caller takes what is
    /// missing at once, and waits for it; what `body` did does not count.
    func evaluate<Value>(for row: PlanIndex, _ body: @EventLoopActor () -> Value) -> Value? {
        failure = nil
        shared.beginEvaluation()
        let value = files.evaluate(for: row, body)
        return shared.missing == nil ? value : nil
    }

    /// Takes what the last evaluation lacked. Other rows may be evaluated before the wait begins.
    func takeMissing() -> MissingValue {
        if let question = files.takeMissing() { return .answer(question) }
        guard let key = shared.missing else { preconditionFailure("the last evaluation lacked no value") }
        return .shared(key)
    }
}

/// A value that an evaluation lacked.
enum MissingValue {
    case answer(FileQuestion)
    case shared(SharedKey)
}
