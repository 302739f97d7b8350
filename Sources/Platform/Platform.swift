#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Android)
    internal import Android
#elseif canImport(WinSDK)
    internal import WinSDK
#else
    internal import Glibc
#endif

/// The system functions that the library needs. Only this file depends on the operating system.
package enum Platform {
    /// The number of active processors, at least 1.
    package static var processorCount: Int {
        #if canImport(WinSDK)
            max(1, Int(GetActiveProcessorCount(WORD(ALL_PROCESSOR_GROUPS))))
        #else
            max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        #endif
    }

    /// Runs `work` on a new thread, which ends with it. For work that blocks, so that it holds up neither an event
    /// loop nor one of the few threads that tasks share. Throws if the system has no thread available.
    package static func startThread(_ work: @escaping @Sendable () -> Void) throws(NoThreadError) {
        let argument = Unmanaged.passRetained(Work(work)).toOpaque()
        guard let error = startThread(with: argument) else { return }
        Unmanaged<Work>.fromOpaque(argument).release()
        throw error
    }

    /// Runs the `Work` that `argument` points to, and releases it. Returns the error if there is no thread, otherwise
    /// nil.
    private static func startThread(with argument: UnsafeMutableRawPointer) -> NoThreadError? {
        // The size of a usual main thread's stack: the default would be 512 KB on macOS and 128 KB with musl.
        let stackSize = 8 << 20
        #if canImport(WinSDK)
            let thread = CreateThread(
                nil, SIZE_T(stackSize),
                { argument in
                    if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run() }
                    return 0
                }, argument, DWORD(STACK_SIZE_PARAM_IS_A_RESERVATION), nil)
            guard let thread else { return NoThreadError(number: Int32(bitPattern: GetLastError())) }
            CloseHandle(thread)
            return nil
        #else
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(&attributes, numericCast(stackSize))
            #if canImport(Darwin) || canImport(Musl)
                var thread: pthread_t?
            #else
                var thread = pthread_t()
            #endif
            let error = pthread_create(
                &thread, &attributes,
                { argument in
                    // Optional only on some systems.
                    let argument: UnsafeMutableRawPointer? = argument
                    guard let argument else { return nil }
                    Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                }, argument)
            return error == 0 ? nil : NoThreadError(number: error)
        #endif
    }

    /// The reason why a thread could not be started, as an error number of the system.
    package struct NoThreadError: Error {
        package let number: Int32
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}

extension Platform {
    /// Lets one thread sleep until a time that any thread may set, even during the sleep.
    ///
    /// Unchecked: `gate` guards the mutable state.
    package final class Sleeper: @unchecked Sendable {
        private let gate = Gate()
        private var end: ContinuousClock.Instant?

        package init() {}

        /// Sets the time at which the thread wakes, replacing an earlier one.
        package func wake(at time: ContinuousClock.Instant) {
            gate.lock()
            end = time
            gate.signal()
            gate.unlock()
        }

        /// Sleeps until the time that was set last. Returns at once if it was set since the last call and has passed.
        package func sleep() {
            gate.lock()
            while true {
                guard let end else {
                    gate.wait()
                    continue
                }
                let rest = ContinuousClock.now.duration(to: end)
                if rest <= .zero { break }
                // The system's clock stops while the machine is suspended, so each wait is short.
                gate.wait(atMost: min(rest, .seconds(10)))
            }
            end = nil
            gate.unlock()
        }
    }

    #if canImport(WinSDK)
        /// A lock whose holder can wait for a signal. Wake-ups may be spurious.
        private final class Gate {
            private struct State {
                var lock = SRWLOCK()
                var condition = CONDITION_VARIABLE()
            }

            private let state: UnsafeMutablePointer<State>

            init() {
                state = .allocate(capacity: 1)
                state.initialize(to: State())
                InitializeSRWLock(&state.pointee.lock)
                InitializeConditionVariable(&state.pointee.condition)
            }

            deinit {
                state.deinitialize(count: 1)
                state.deallocate()
            }

            func lock() { AcquireSRWLockExclusive(&state.pointee.lock) }
            func unlock() { ReleaseSRWLockExclusive(&state.pointee.lock) }
            func signal() { WakeConditionVariable(&state.pointee.condition) }
            func wait() { wait(milliseconds: DWORD.max) }

            func wait(atMost time: Duration) {
                // Rounded up.
                wait(milliseconds: DWORD(clamping: Int64(time / .milliseconds(1)) + 1))
            }

            private func wait(milliseconds: DWORD) {
                _ = SleepConditionVariableSRW(&state.pointee.condition, &state.pointee.lock, milliseconds, 0)
            }
        }
    #else
        /// A lock whose holder can wait for a signal. Wake-ups may be spurious.
        private final class Gate {
            private struct State {
                var mutex = pthread_mutex_t()
                var condition = pthread_cond_t()
            }

            private let state: UnsafeMutablePointer<State>

            init() {
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

            func lock() { pthread_mutex_lock(&state.pointee.mutex) }
            func unlock() { pthread_mutex_unlock(&state.pointee.mutex) }
            func signal() { pthread_cond_signal(&state.pointee.condition) }
            func wait() { pthread_cond_wait(&state.pointee.condition, &state.pointee.mutex) }

            func wait(atMost time: Duration) {
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
    #endif
}

#if FLOWRUN_SANITIZE
    /// A replacement for `Mutex` under ThreadSanitizer, which does not recognise that the standard library's `Mutex`
    /// orders threads and reports every value in one as a race.
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
