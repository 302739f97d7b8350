internal import CLinux
internal import Glibc

/// The process that was started: parent of the one that does the work, the runner, and of whatever the run's processes
/// leave behind. It lives until nothing of the run is left, however the runner ends.
package enum Guard {
    /// Makes this process the guard of a new one and returns in the new one. Where the machine has no process for that,
    /// it returns in this one, and a run has no guard. Does nothing in a runner: most have their guard before main.
    /// Called before there is a second thread.
    package static func enter() { _ = clinux_enter_guard() }

    /// The number of the process that was started: what whoever started flowrun knows it by.
    package static var startedProcess: Int32 { clinux_guard()?.pointee.pid ?? getpid() }

    /// What the marks of all processes of this run have in common; nil where they have none.
    @EventLoopActor package static var mark: UInt64? { Containment.shared.run }

    /// Calls `handler` when the guard has ended, which it never does by itself while the runner lives. Never where there
    /// is none.
    @EventLoopActor
    package static func whenGone(_ handler: @escaping @EventLoopActor () -> Void) {
        guard let pidfd = clinux_guard()?.pointee.pidfd else { return }
        Poller.shared.watchOnce(pidfd) {
            Poller.shared.closeAfterEvent(pidfd)
            handler()
        }
    }

    /// Removes the leaves of cgroup v2 where the guard has died, who would have done so. Called when nothing of the run is
    /// left.
    package static func removeLeavesInItsPlace() {
        guard let guardian = clinux_guard()?.pointee.pid, guardian != getppid() else { return }
        _ = clinux_cgroup_remove()
    }
}
