import Glibc
import ProcessExecution

/// The event loop on a thread of its own: a test process has other plans for its main thread. There is one loop in a
/// process, and so one thread for the tests of all targets.
package enum EventLoopThread {
    package static func ensureRunning() { _ = isRunning }

    private static let isRunning: Bool = {
        var thread = pthread_t()
        return pthread_create(
            &thread, nil,
            { _ in
                EventLoop.shared.run()
                return nil
            }, nil) == 0
    }()
}
