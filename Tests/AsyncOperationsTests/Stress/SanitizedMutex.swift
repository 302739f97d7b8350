#if FLOWRUN_SANITIZE
    import Platform

    /// So that ThreadSanitizer understands the tests' own locks, too.
    typealias Mutex = PosixMutex
#endif
