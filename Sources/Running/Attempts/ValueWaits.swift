internal import Planning
internal import Processes
internal import RunLog
internal import Scheduling
internal import Workflow

/// The rows that wait for values that their evaluation lacked: for answers about files, and for `vars`, whose commands
/// run meanwhile.
///
/// A command that is no longer waited for is stopped, and a later reader starts it again.
@EventLoopActor
final class ValueWaits {
    private struct Waiter {
        let key: SharedKey
        /// True if it has a slot already, in which the command can run.
        let holdsSlot: Bool
        let resume: @EventLoopActor () -> Void
    }

    private let parts: RunParts
    private var running: [SharedKey: SharedCommand] = [:]
    /// At most one for each row.
    private var waiters: [PlanIndex: Waiter] = [:]
    /// Called when a command that was stopped is gone.
    private var leavers: [SharedKey: [@EventLoopActor () -> Void]] = [:]
    private var errandCount = 0

    init(_ parts: RunParts) { self.parts = parts }

    /// True if no command runs.
    var isIdle: Bool { running.isEmpty }

    /// True if a command has a process.
    var haveProcess: Bool { running.values.contains(where: \.hasProcess) }

    private var pending: PendingValues { parts.context.pending }

    /// The running commands in the order of their starts.
    private var inOrder: [SharedCommand] { running.values.sorted { $0.errand.number < $1.errand.number } }

    /// The values whose command has a process, in the order of their starts.
    var statuses: [RunStatus.RunningValue] { inOrder.compactMap(\.status) }

    /// Makes a value that the evaluation of a row lacked and then calls `resume`, unless the row is forgotten before.
    /// `holdingSlot` is true for a step that already has its slot.
    func wait(
        for missing: MissingValue, in row: PlanIndex, holdingSlot: Bool = false,
        then resume: @escaping @EventLoopActor () -> Void
    ) {
        switch missing {
        case .answer(let question): pending.files.ask(question, for: row, then: resume)
        case .shared(let key):
            waiters[row] = Waiter(key: key, holdsSlot: holdingSlot, resume: resume)
            if holdingSlot { running[key]?.takeLentSlot() }
            startIfReady(key)
        }
    }

    private func startIfReady(_ key: SharedKey) {
        guard let launch = pending.shared.begin(key) else { return }
        errandCount += 1
        let command = SharedCommand(launch, for: key, Errand(errandCount), parts) { [weak self] result in
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
        pending.shared.end(key, result)
        if result != nil, let scriptFile = launch.scriptFile { parts.context.files.drop(scriptFile) }
        for tell in leavers.removeValue(forKey: key) ?? [] { tell() }
        let isWanted = waiters.values.contains { $0.key == key }
        guard result != nil else {
            // A row came to wait while it was being stopped.
            if isWanted { startIfReady(key) } else { parts.loop.checkEnd() }
            return
        }
        for (row, waiter) in waiters.filter({ $0.value.key == key }).sorted(by: { $0.key < $1.key }) {
            // The one before may have ended others.
            if waiters[row]?.key == key {
                waiters[row] = nil
                waiter.resume()
            }
        }
        parts.loop.checkEnd()
    }

    /// Ends the wait of a row. Returns false if it did not wait. The caller calls `beginNext` of the questions about
    /// files.
    @discardableResult
    func forget(_ row: PlanIndex) -> Bool {
        let waitedForFiles = pending.files.forget(row)
        return stopWaiting(row) || waitedForFiles
    }

    /// Ends the wait of a row, then calls `done`. If no other row waits for the command, stops it and calls `done` once
    /// it is gone; otherwise at once.
    func leave(_ row: PlanIndex, then done: @escaping @EventLoopActor () -> Void) {
        pending.files.forget(row)
        stopWaiting(row, whenGone: done)
    }

    /// Stops a command that is no longer waited for. Returns false if the row did not wait for one.
    @discardableResult
    private func stopWaiting(_ row: PlanIndex, whenGone: (@EventLoopActor () -> Void)? = nil) -> Bool {
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
    func resume() { for command in inOrder { command.resume() } }

    func killAll() { for command in inOrder { command.kill() } }
    func freeze() { for command in inOrder { command.freeze() } }
    func thaw() { for command in inOrder { command.thaw() } }
}
