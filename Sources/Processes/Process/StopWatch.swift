internal import CLinux
internal import Glibc

/// Reports when a child may have stopped or continued, which no pidfd does. Sees only what arrives while CHLD is
/// blocked.
@EventLoopActor
final class StopWatch {
    private let descriptor: Int32

    /// Calls `handler` for as long as the watch is kept; never if the machine has no descriptor for it.
    init(_ handler: @escaping @EventLoopActor () -> Void) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGCHLD)
        let descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        self.descriptor = descriptor
        guard descriptor >= 0 else { return }
        Poller.shared.watch(descriptor, for: .read) {
            var info = signalfd_siginfo()
            while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {}
            handler()
        }
    }

    isolated deinit { if descriptor >= 0 { Poller.shared.close(descriptor) } }
}
