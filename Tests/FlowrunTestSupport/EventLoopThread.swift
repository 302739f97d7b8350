import Glibc
import Processes

/// The event loop on a thread of its own: a test process has other plans for its main thread. There is one loop in a
/// process, and so one thread for the tests of all targets.
///
/// As in flowrun, a reader that went away is an error of the write and not the end of the process: what a test leaves
/// in a sink is still written when the test, and with it the reader, is gone.
package enum EventLoopThread {
    package static func ensureRunning() { _ = isRunning }

    private static let isRunning: Bool = {
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        return pthread_create(
            &thread, nil,
            { _ in
                EventLoop.shared.run()
                return nil
            }, nil) == 0
    }()
}
