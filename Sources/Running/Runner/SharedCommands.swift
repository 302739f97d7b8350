internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// The commands of `vars` that run, and the rows that wait for their values.
///
/// A command that is no longer waited for is stopped, and a later reader starts it again.
@EventLoopActor
final class SharedCommands {
    private struct Waiter {
        let key: SharedKey
        /// True if it has a slot already, in which the command can run.
        let holdsSlot: Bool
        let resume: @EventLoopActor () -> Void
    }

    // The runner holds it and outlives it.
    private unowned let runner: WorkflowRunner
    private var running: [SharedKey: SharedCommand] = [:]
    /// At most one for each row.
    private var waiters: [PlanIndex: Waiter] = [:]
    /// Called when a command that was stopped is gone.
    private var leavers: [SharedKey: [@EventLoopActor () -> Void]] = [:]
    private var errandCount = 0

    init(of runner: WorkflowRunner) { self.runner = runner }

    /// True if no command runs.
    var isIdle: Bool { running.isEmpty }

    private var values: SharedValues { runner.context.pending.shared }

    /// The values whose command has a process, in the order of their starts.
    var statuses: [RunStatus.RunningValue] {
        running.values.sorted { $0.errand.number < $1.errand.number }.compactMap(\.status)
    }

    /// Makes a value and then calls `resume`, unless the row is forgotten before. `holdingSlot` is true for a step that
    /// already has its slot.
    func wait(
        for key: SharedKey, in row: PlanIndex, holdingSlot: Bool, then resume: @escaping @EventLoopActor () -> Void
    ) {
        waiters[row] = Waiter(key: key, holdsSlot: holdingSlot, resume: resume)
        if holdingSlot { running[key]?.takeLentSlot() }
        startIfReady(key)
    }

    private func startIfReady(_ key: SharedKey) {
        guard let launch = values.begin(key) else { return }
        errandCount += 1
        let command = SharedCommand(launch, for: key, Errand(errandCount), by: runner) { [weak self] result in
            self?.hasEnded(key, launch, result)
        }
        running[key] = command
        if hasLender(key) { command.takeLentSlot() } else { command.askForSlot() }
    }

    private func hasLender(_ key: SharedKey) -> Bool { waiters.values.contains { $0.key == key && $0.holdsSlot } }

    /// Called when the scheduler has a slot for a command.
    func start(_ errand: Errand) { running.values.first { $0.errand == errand }?.hasItsSlot() }

    private func hasEnded(_ key: SharedKey, _ launch: SharedLaunch, _ result: Result<Value, SharedFailure>?) {
        running[key] = nil
        values.end(key, result)
        if result != nil, let scriptFile = launch.scriptFile { runner.files.drop(scriptFile) }
        for tell in leavers.removeValue(forKey: key) ?? [] { tell() }
        let isWanted = waiters.values.contains { $0.key == key }
        guard result != nil else {
            // A row came to wait while it was being stopped.
            if isWanted { startIfReady(key) } else { runner.mayHaveEnded() }
            return
        }
        for (row, waiter) in waiters.filter({ $0.value.key == key }).sorted(by: { $0.key < $1.key }) {
            // The one before may have ended others.
            if waiters[row]?.key == key {
                waiters[row] = nil
                waiter.resume()
            }
        }
        runner.mayHaveEnded()
    }

    /// Ends the wait of a row; a command that is no longer waited for is stopped. Returns false if the row did not
    /// wait. `whenGone` is called once the command is gone: at once, unless this row was the last one to wait.
    @discardableResult
    func forget(_ row: PlanIndex, whenGone: (@EventLoopActor () -> Void)? = nil) -> Bool {
        let key = waiters.removeValue(forKey: row)?.key
        guard let key, let command = running[key] else {
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

    /// Starts the commands that have a slot and that a pause has held back.
    func startHeld() { running.values.forEach { $0.start() } }

    func killAll() { running.values.forEach { $0.kill() } }
    func freeze() { running.values.forEach { $0.freeze() } }
    func thaw() { running.values.forEach { $0.thaw() } }
}
