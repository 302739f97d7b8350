import Glibc

@testable import ProcessExecution

/// The event loop on a thread of its own: a test process has other plans for its main thread.
enum EventLoopThread {
    static func ensureRunning() { _ = isRunning }

    /// What the program does first: without it, whatever this process ignores its children ignore too.
    @EventLoopActor static func takeSignals() { _ = hasSignals }

    @EventLoopActor private static let hasSignals: Bool = {
        Signals.take { _ in }
        return true
    }()

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
