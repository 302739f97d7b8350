internal import Glibc
internal import ProcessExecution
internal import Reporting
internal import WorkflowExecution

/// What reaches a run from outside while it lives.
extension Run {
    @EventLoopActor
    func takeSignals(for runner: WorkflowRunner, _ logs: RunLogs) {
        Signals.take { signal in
            guard signal == SIGTSTP else { return runner.interrupt(by: signal) }
            runner.standStill(by: "SIGTSTP", until: "SIGCONT") {
                logs.clearDisplay()
                Signals.stop()
            }
        }
    }

    /// Listens for `flowrun ctl`. Returns whether that is possible, and says why where it is not.
    @EventLoopActor
    func canBeSteered(_ runner: WorkflowRunner, _ record: RunRecord, through state: RunState?) -> Bool {
        let desk = ControlDesk(runner: runner, record: record)
        guard let state else {
            if request.isPaused { standardError.say("with --paused nobody could ever start the run") }
            return false
        }
        guard let trouble = state.serve(desk.answer) else { return true }
        let consequence =
            request.isPaused
            ? "with --paused nobody could ever start the run" : "going on, but `ctl` will not find the run"
        standardError.say("\(trouble); \(consequence)")
        return false
    }
}
