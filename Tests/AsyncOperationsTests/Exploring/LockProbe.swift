#if DEBUG || FLOWRUN_EXPLORE
    @testable import AsyncOperations

    /// Hears of every lock of the library: the threads of a `ControlledExecutor` take it when it is their turn, and all
    /// others are let be, but for what `StressNoise` does to them.
    struct LockProbe: InterleavingProbe {
        func willLock(_ lock: UInt64) {
            guard let processor = Processor.current else { return StressNoise.shake() }
            processor.executor.take(lock, on: processor)
        }

        func didUnlock(_ lock: UInt64) {
            if let processor = Processor.current { processor.executor.giveBack(lock, on: processor) }
        }

        func willCancel() { Processor.current?.cancelDepth += 1 }
        func didCancel() { Processor.current?.cancelDepth -= 1 }

        var executor: (any TaskExecutor)? { Processor.current?.executor }
        var clock: (any Clock<Duration>)? { Processor.current?.executor.clock }
        var world: ObjectIdentifier? { Processor.current.map { ObjectIdentifier($0.executor) } }

        static func install() { _ = installation }
        private static let installation: Void = { Interleaving.probe = LockProbe() }()
    }

    extension ControlledExecutor {
        func isFree(_ lock: UInt64) -> Bool { !processors.contains { $0.heldLocks.contains(lock) } }

        fileprivate func take(_ lock: UInt64, on processor: Processor) {
            processor.wantedLock = lock
            pass(from: processor)
            processor.wantedLock = nil
            processor.heldLocks.append(lock)
            note("takes lock \(lock) in \(CallChain())")
        }

        fileprivate func giveBack(_ lock: UInt64, on processor: Processor) {
            processor.heldLocks.removeAll { $0 == lock }
            if processors.contains(where: { $0.cancelDepth > 0 && $0.wantedLock == lock }) { pass(from: processor) }
        }

        /// The processor that cancels tasks, which must not be left alone with the runtime's lock, or the one that has
        /// the lock of the library that it waits for.
        var urgent: Processor? {
            guard var next = processors.first(where: { $0.cancelDepth > 0 }) else { return nil }
            for _ in processors where !next.canGoOn {
                guard let lock = next.wantedLock, let holder = processors.first(where: { $0.heldLocks.contains(lock) })
                else { break }
                next = holder
            }
            return next.canGoOn ? next : nil
        }

        /// Who waits for which lock; nil where nobody stands in the middle of a job.
        var lockWaits: String? {
            let waiting = processors.filter { $0.job != nil }.map { processor in
                let wanted = processor.wantedLock.map(String.init) ?? "nothing"
                return line("has locks \(processor.heldLocks) and waits for \(wanted)", processor)
            }
            return waiting.isEmpty ? nil : waiting.joined(separator: "; ")
        }

        /// Cancels a task as the library does it.
        static func cancel(_ task: Task<Void, Never>) { cancelling { task.cancel() } }
    }
#endif
