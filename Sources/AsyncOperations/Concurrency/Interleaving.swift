#if DEBUG || FLOWRUN_EXPLORE
    internal import Synchronization

    /// Decides in tests which thread takes a lock next and where tasks run. Release builds do not contain it.
    package protocol InterleavingProbe: Sendable {
        /// The calling thread is about to take a lock; returns when it may. The numbers of locks are never reused.
        func willLock(_ lock: UInt64)
        /// The calling thread has released a lock.
        func didUnlock(_ lock: UInt64)
        /// Between these two, the calling thread cancels tasks. Their cancellation handlers run under a lock of the
        /// runtime, so no other thread that could want that lock may go on.
        func willCancel()
        func didCancel()
        /// Where a task that the calling thread makes runs; nil for the global pool.
        var executor: (any TaskExecutor)? { get }
        /// The clock of what the calling thread starts without naming one; nil for the usual one.
        var clock: (any Clock<Duration>)? { get }
        /// What the calling thread belongs to. Threads of one world may stand still with locks of theirs, which those
        /// of another must not want. nil for all that are not controlled.
        var world: ObjectIdentifier? { get }
    }

    /// The probe that the library asks, and the numbers of locks.
    package enum Interleaving {
        private static let lastLock = Atomic<UInt64>(0)
        /// Set once, before the library is used. It must ignore threads that it does not know.
        nonisolated(unsafe) package static var probe: (any InterleavingProbe)?

        static func nextLock() -> UInt64 { lastLock.add(1, ordering: .relaxed).newValue }
    }
#endif

/// The clock of an operation that is started without one.
var usualClock: any Clock<Duration> {
    #if DEBUG || FLOWRUN_EXPLORE
        Interleaving.probe?.clock ?? ContinuousClock()
    #else
        ContinuousClock()
    #endif
}

/// What the calling thread belongs to: nothing but where tests decide which thread goes on.
var currentWorld: ObjectIdentifier? {
    #if DEBUG || FLOWRUN_EXPLORE
        Interleaving.probe?.world
    #else
        nil
    #endif
}

/// Calls `cancel`, which cancels tasks. The library cancels tasks only here, so that tests know when handlers run under
/// a lock of the runtime.
func cancelling(_ cancel: () -> Void) {
    #if DEBUG || FLOWRUN_EXPLORE
        let probe = Interleaving.probe
        probe?.willCancel()
        defer { probe?.didCancel() }
    #endif
    cancel()
}
