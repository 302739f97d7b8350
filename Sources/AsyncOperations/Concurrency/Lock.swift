#if FLOWRUN_SANITIZE
    internal import Platform

    typealias Mutex = PosixMutex
#else
    internal import Synchronization
#endif

/// A value that one thread at a time may use. The library has no other kind of lock, so tests can decide which thread
/// takes a lock next.
struct Lock<Value: ~Copyable>: ~Copyable, Sendable {
    private let mutex: Mutex<Value>
    #if DEBUG || FLOWRUN_EXPLORE
        private let number = Interleaving.nextLock()
    #endif

    init(_ value: consuming sending Value) { mutex = Mutex(value) }

    /// Calls `body` with the lock held. Not reentrant.
    borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG || FLOWRUN_EXPLORE
            let probe = Interleaving.probe
            probe?.willLock(number)
            defer { probe?.didUnlock(number) }
        #endif
        return try mutex.withLock(body)
    }
}
