#if DEBUG || FLOWRUN_EXPLORE
    internal import Synchronization

    /// Decides in tests which thread takes a lock next and where tasks run. Not part of release builds.
    package protocol InterleavingProbe: Sendable {
        /// Called when the calling thread is about to take a lock; returns when it may. The numbers of locks are
        /// never reused.
        func willLock(_ lock: UInt64)
        /// Called when the calling thread has released a lock.
        func didUnlock(_ lock: UInt64)
        /// Called before the calling thread cancels tasks; `didCancel` follows. Cancellation handlers run under a
        /// lock of the runtime, so no other thread that could want that lock may go on in between.
        func willCancel()
        func didCancel()
        /// The executor of tasks that the calling thread creates; nil for the global pool.
        var executor: (any TaskExecutor)? { get }
        /// The clock of operations that the calling thread starts without naming one; nil for the usual one.
        var clock: (any Clock<Duration>)? { get }
        /// The world of the calling thread; nil for threads that are not controlled. A thread may be halted while it
        /// holds locks, which threads of another world must not want.
        var world: ObjectIdentifier? { get }
    }

    /// The probe of the library, and the numbers of locks.
    package enum Interleaving {
        private static let lastLock = Atomic<UInt64>(0)
        /// Set once, before the library is used. It must ignore unknown threads.
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

/// The world of the calling thread; nil unless tests decide which thread goes on.
var currentWorld: ObjectIdentifier? {
    #if DEBUG || FLOWRUN_EXPLORE
        Interleaving.probe?.world
    #else
        nil
    #endif
}

/// Calls `cancel`, which cancels tasks. The library cancels tasks only here, so that tests know when handlers run
/// under a lock of the runtime.
func cancelling(_ cancel: () -> Void) {
    #if DEBUG || FLOWRUN_EXPLORE
        let probe = Interleaving.probe
        probe?.willCancel()
        defer { probe?.didCancel() }
    #endif
    cancel()
}
