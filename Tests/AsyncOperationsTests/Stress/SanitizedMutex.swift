#if FLOWRUN_SANITIZE
    import Platform

    /// So that ThreadSanitizer understands the tests' own locks, too. A type of its own, because every file that calls a
    /// member of an alias would have to import what that stands for.
    struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
        private let mutex: PosixMutex<Value>

        init(_ initial: consuming sending Value) { mutex = PosixMutex(initial) }

        borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            try mutex.withLock(body)
        }

        borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            try mutex.withLockIfAvailable(body)
        }
    }
#endif
