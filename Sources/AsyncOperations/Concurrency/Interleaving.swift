#if DEBUG || FLOWRUN_EXPLORE
    internal import Synchronization

    /// Decides in tests which thread takes a lock next and where tasks run. In a release build there is nothing of it.
    package protocol InterleavingProbe: Sendable {
        /// The calling thread is about to take a lock; returns when it may. Locks have numbers that are never given twice.
        func willLock(_ lock: UInt64)
        /// The calling thread has let go of a lock.
        func didUnlock(_ lock: UInt64)
        /// Between these two, the calling thread cancels tasks, whose cancellation handlers run under a lock of the
        /// runtime: no other thread may be let go on that could want the same lock.
        func willCancel()
        func didCancel()
        /// Where a task runs that the calling thread makes; nil for the pool that all tasks share.
        var executor: (any TaskExecutor)? { get }
    }

    /// What the library asks its tests.
    package enum Interleaving {
        private static let lastLock = Atomic<UInt64>(0)
        /// Set once, before the library is used. It has to let threads be that it does not know.
        nonisolated(unsafe) package static var probe: (any InterleavingProbe)?

        static func nextLock() -> UInt64 { lastLock.add(1, ordering: .relaxed).newValue }
    }
#endif

/// Calls `cancel`, which cancels tasks. Every cancellation of the library goes through here, so that tests know when
/// handlers run under a lock that is not one of the library's.
func cancelling(_ cancel: () -> Void) {
    #if DEBUG || FLOWRUN_EXPLORE
        let probe = Interleaving.probe
        probe?.willCancel()
        defer { probe?.didCancel() }
    #endif
    cancel()
}
