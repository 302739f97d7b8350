#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// What the library asks of the system. Only this file knows which one it is.
package enum Platform {
    /// How many processors are in use, at least 1.
    package static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// Runs `work` on a thread of its own, which ends with it: for work that blocks, so that it holds up neither an
    /// event loop nor one of the few threads that tasks share. Throws if there is no thread to be had.
    package static func startThread(_ work: @escaping @Sendable () -> Void) throws(NoThreadError) {
        let argument = Unmanaged.passRetained(Work(work)).toOpaque()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // As much as a main thread has: macOS would give it 512 KB, and musl 128.
        pthread_attr_setstacksize(&attributes, 8 << 20)
        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let error = pthread_create(
            &thread, &attributes,
            { argument in
                // Optional on some systems only.
                let argument: UnsafeMutableRawPointer? = argument
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        guard error != 0 else { return }
        Unmanaged<Work>.fromOpaque(argument).release()
        throw NoThreadError(number: error)
    }

    /// Why a thread could not be started, as an error number.
    package struct NoThreadError: Error {
        package let number: Int32
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

extension Platform {
    /// Lets one thread sleep until a time that any thread may set, also while it sleeps.
    ///
    /// Unchecked: its mutex guards what changes.
    package final class Sleeper: @unchecked Sendable {
        private struct State {
            var mutex = pthread_mutex_t()
            var condition = pthread_cond_t()
            var end: ContinuousClock.Instant?
        }

        private let state: UnsafeMutablePointer<State>

        package init() {
            state = .allocate(capacity: 1)
            state.initialize(to: State())
            pthread_mutex_init(&state.pointee.mutex, nil)
            #if canImport(Darwin)
                pthread_cond_init(&state.pointee.condition, nil)
            #else
                var attributes = pthread_condattr_t()
                pthread_condattr_init(&attributes)
                pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
                pthread_cond_init(&state.pointee.condition, &attributes)
                pthread_condattr_destroy(&attributes)
            #endif
        }

        deinit {
            pthread_cond_destroy(&state.pointee.condition)
            pthread_mutex_destroy(&state.pointee.mutex)
            state.deinitialize(count: 1)
            state.deallocate()
        }

        /// Wakes the thread at `time`, in place of what was set before.
        package func wake(at time: ContinuousClock.Instant) {
            pthread_mutex_lock(&state.pointee.mutex)
            state.pointee.end = time
            pthread_cond_signal(&state.pointee.condition)
            pthread_mutex_unlock(&state.pointee.mutex)
        }

        /// Sleeps until the time that was set last; at once if that has passed since the last call.
        package func sleep() {
            pthread_mutex_lock(&state.pointee.mutex)
            while true {
                guard let end = state.pointee.end else {
                    pthread_cond_wait(&state.pointee.condition, &state.pointee.mutex)
                    continue
                }
                let rest = ContinuousClock.now.duration(to: end)
                if rest <= .zero { break }
                // The system's clock stands still while the machine is suspended, so not for long at once.
                wait(atMost: min(rest, .seconds(10)))
            }
            state.pointee.end = nil
            pthread_mutex_unlock(&state.pointee.mutex)
        }

        private func wait(atMost time: Duration) {
            let (seconds, attoseconds) = time.components
            // Rounded up.
            let nanoseconds = Int(attoseconds / 1_000_000_000) + 1
            #if canImport(Darwin)
                var rest = timespec(tv_sec: Int(seconds), tv_nsec: min(nanoseconds, 999_999_999))
                pthread_cond_timedwait_relative_np(&state.pointee.condition, &state.pointee.mutex, &rest)
            #else
                var end = timespec()
                clock_gettime(CLOCK_MONOTONIC, &end)
                let sum = Int(end.tv_nsec) + nanoseconds
                end.tv_sec += Int(seconds) + sum / 1_000_000_000
                end.tv_nsec = sum % 1_000_000_000
                pthread_cond_timedwait(&state.pointee.condition, &state.pointee.mutex, &end)
            #endif
        }
    }
}

#if FLOWRUN_SANITIZE
    /// What `Mutex` is, in a form that ThreadSanitizer understands: it does not see that a `Mutex` of the standard
    /// library orders threads, and takes every value in one for a race.
    package struct PosixMutex<Value: ~Copyable>: ~Copyable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let value: UnsafeMutablePointer<Value>

        package init(_ initial: consuming sending Value) {
            mutex = .allocate(capacity: 1)
            pthread_mutex_init(mutex, nil)
            value = .allocate(capacity: 1)
            value.initialize(to: initial)
        }

        deinit {
            value.deinitialize(count: 1)
            value.deallocate()
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        package borrowing func withLock<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }

        package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(mutex) == 0 else { return nil }
            defer { pthread_mutex_unlock(mutex) }
            return try body(&value.pointee)
        }
    }

    extension PosixMutex: @unchecked Sendable where Value: ~Copyable {}
#endif
