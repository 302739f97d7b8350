internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// The values of `vars` that commands make, each once in a run, when it is first read.
///
/// A command may take long, so an evaluation that reads the value of one that has not run ends without a value. The
/// command runs beside the event loop, and the evaluation begins once more. A command that is no longer waited for is
/// stopped, and a later reader starts it again.
@EventLoopActor
final class SharedCommands {
    private enum State {
        /// The command that would make it; no row waits yet.
        case ready(SharedLaunch)
        case running(SharedCommand)
        case ended(Result<Value, SharedFailure>)
    }

    private struct Waiter {
        let key: SharedKey
        /// True if it has a slot already, in which the command can run.
        let holdsSlot: Bool
        let resume: @EventLoopActor () -> Void
    }

    /// The owner of the commands; set before the first evaluation.
    weak var runner: WorkflowRunner?
    private var states: [SharedKey: State] = [:]
    /// At most one for each row.
    private var waiters: [PlanIndex: Waiter] = [:]
    /// Called when a command that was stopped is gone.
    private var leavers: [SharedKey: [@EventLoopActor () -> Void]] = [:]
    /// The first value that the current evaluation lacks.
    private var missing: SharedKey?
    private var errandCount = 0

    /// True if the current evaluation lacks a value.
    var isMissing: Bool { missing != nil }

    /// True if no command runs.
    var isIdle: Bool { running.isEmpty }

    private var running: [SharedCommand] {
        states.values.compactMap { if case .running(let command) = $0 { command } else { nil } }
    }

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

    /// Forgets what an evaluation lacked.
    func beginEvaluation() { missing = nil }

    /// The values whose command has a process, in the order of their starts.
    var statuses: [RunStatus.RunningValue] {
        running.sorted { $0.errand.number < $1.errand.number }.compactMap(\.status)
    }

    /// Makes the value that the last evaluation lacked and then calls `resume`, unless the row is forgotten before.
    func wait(for row: PlanIndex, holdingSlot: Bool, then resume: @escaping @EventLoopActor () -> Void) {
        guard let key = missing.take() else { preconditionFailure("row \(row) lacks no value") }
        waiters[row] = Waiter(key: key, holdsSlot: holdingSlot, resume: resume)
        if case .running(let command)? = states[key], holdingSlot { command.takeLentSlot() }
        startIfReady(key)
    }

    private func startIfReady(_ key: SharedKey) {
        guard case .ready(let launch)? = states[key], let runner else { return }
        errandCount += 1
        let command = SharedCommand(launch, for: key, Errand(errandCount), by: runner) { [weak self] result in
            self?.hasEnded(key, launch, result)
        }
        states[key] = .running(command)
        if hasLender(key) { command.takeLentSlot() } else { command.askForSlot() }
    }

    private func hasLender(_ key: SharedKey) -> Bool { waiters.values.contains { $0.key == key && $0.holdsSlot } }

    /// Called when the scheduler has a slot for a command.
    func start(_ errand: Errand) { running.first { $0.errand == errand }?.hasItsSlot() }

    private func hasEnded(_ key: SharedKey, _ launch: SharedLaunch, _ result: Result<Value, SharedFailure>?) {
        states[key] = result.map(State.ended) ?? .ready(launch)
        if result != nil, let scriptFile = launch.scriptFile { runner?.files.drop(scriptFile) }
        for tell in leavers.removeValue(forKey: key) ?? [] { tell() }
        let isWanted = waiters.values.contains { $0.key == key }
        guard result != nil else {
            // A row came to wait while it was being stopped.
            if isWanted { startIfReady(key) } else { runner?.mayHaveEnded() }
            return
        }
        for (row, waiter) in waiters.filter({ $0.value.key == key }).sorted(by: { $0.key < $1.key }) {
            // The one before may have ended others.
            if waiters[row]?.key == key {
                waiters[row] = nil
                waiter.resume()
            }
        }
        runner?.mayHaveEnded()
    }

    /// Ends the wait of a row; a command that is no longer waited for is stopped. Returns false if the row did not
    /// wait. `whenGone` is called once the command is gone: at once, unless this row was the last one to wait.
    @discardableResult
    func forget(_ row: PlanIndex, whenGone: (@EventLoopActor () -> Void)? = nil) -> Bool {
        let key = waiters.removeValue(forKey: row)?.key
        guard let key, case .running(let command)? = states[key] else {
            whenGone?()
            return key != nil
        }
        let isWanted = waiters.values.contains { $0.key == key }
        // A row that ends only with the command keeps its slot until then.
        if !hasLender(key), isWanted || whenGone == nil { command.returnLentSlot() }
        guard !isWanted else {
            whenGone?()
            return true
        }
        if let whenGone { leavers[key, default: []].append(whenGone) }
        command.stop()
        return true
    }

    /// Forgets values, so that the next reader has them made once more. Running commands go on.
    func forget(where isStale: (SharedKey) -> Bool) {
        states = states.filter { key, state in
            if case .running = state { true } else { !isStale(key) }
        }
    }

    /// Starts the commands that have a slot and that a pause has held back.
    func startHeld() { running.forEach { $0.start() } }

    func killAll() { running.forEach { $0.kill() } }
    func freeze() { running.forEach { $0.freeze() } }
    func thaw() { running.forEach { $0.thaw() } }
}

/// One of `vars` in one instance of the group that declares it.
struct SharedKey: Hashable {
    let group: PlanIndex
    let id: SharedValueID
}

/// The command that makes the value of one of `vars`.
struct SharedLaunch {
    let command: ProcessCommand
    /// The command in the log, secrets masked.
    let words: StepStarted.Command
    /// The file of a script for its own interpreter; nil if a shell reads the script.
    let scriptFile: String?
}

/// The reason why one of `vars` has no value, for everything that reads it.
struct SharedFailure: Error {
    let cause: Cause
    /// The end of the command's output; empty if it did not run.
    var tail = OutputTail()
}
