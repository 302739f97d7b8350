internal import CLinux
internal import Glibc

/// The process that was started: parent of the runner, which does the work, and of everything that the run's
/// processes leave behind. It lives until nothing of the run is left, however the runner ends.
package enum Guard {
    /// Makes this process the guard of a new one and returns in the new one. If the machine has no process for that,
    /// it returns in this one, and the run has no guard. Does nothing in a runner: most have their guard before main.
    /// Called before there is a second thread.
    package static func enter() { _ = clinux_enter_guard() }

    /// The number of the process that was started, by which flowrun's caller knows it.
    package static var startedProcess: Int32 { clinux_guard()?.pointee.pid ?? getpid() }

    /// The run's part of the marks of its processes; nil if they have none.
    @EventLoopActor package static var mark: UInt64? { Containment.shared.run }

    /// True for flowrun's own processes in this run.
    static func isFlowrun(_ pid: pid_t) -> Bool {
        pid == getpid() || pid == startedProcess || pid == clinux_sentinel()
    }

    /// Calls `handler`, which is to end all commands, when the guard has ended; by itself the guard ends after the
    /// runner. Never called without a guard.
    @EventLoopActor
    package static func whenGone(_ handler: @escaping @EventLoopActor () -> Void) {
        guard let guardian = clinux_guard()?.pointee else { return }
        Poller.shared.watchOnce(guardian.pidfd) {
            // First, so that no more orphans go to a process outside the run.
            clinux_adopt_orphans()
            isGone = true
            Poller.shared.closeAfterEvent(guardian.pidfd)
            handler()
            // Ends processes that fork and end faster than a look takes: they have no parent left, and no command would
            // find them.
            clinux_end_marked(guardian.mark, getpgrp(), 2)
        }
    }

    /// While set, a KILL of the guard ends this process, too: before the event loop runs, nothing else would.
    package static func endsRunner(_ ends: Bool) { clinux_die_with_guard(ends ? 1 : 0) }

    /// Wakes the guard, which has stopped with the runner, when a signal has woken only the runner. Sends CONT twice,
    /// because the guard may have been about to stop.
    @EventLoopActor
    static func wake() {
        sendContinue()
        Poller.shared.after(.milliseconds(50)) { sendContinue() }
    }

    @EventLoopActor
    private static func sendContinue() {
        guard !isGone, let guardian = clinux_guard()?.pointee else { return }
        _ = clinux_pidfd_send_signal(guardian.pidfd, SIGCONT)
    }

    /// True once its pidfd has been closed.
    @EventLoopActor private static var isGone = false

    /// Has the folder at this path removed when the run ends, however it ends; nil if there is none any more.
    package static func note(temporaryFolder path: String?) { clinux_note_temporary_folder(path) }

    /// Tells the guard that nothing of the run is left and that the runner is about to end. Removes the cgroup leaves,
    /// which the guard would have removed, if it has died.
    package static func announceEnd() {
        guard let guardian = clinux_guard()?.pointee.pid else { return }
        if guardian == getppid() { clinux_announce_end() } else { _ = clinux_cgroup_remove() }
    }
}
