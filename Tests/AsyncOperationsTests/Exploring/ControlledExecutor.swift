#if DEBUG || FLOWRUN_EXPLORE
    import FlowrunTestSupport

    @testable import AsyncOperations

    /// Runs tasks on a few threads of which one goes on at a time. Whoever takes a lock, enters or leaves user code or
    /// ends a job asks a `Chooser` who goes on, so that the same choices give the same run.
    ///
    /// What it holds is touched by the thread whose turn it is, and between two runs by whoever calls `run`.
    final class ControlledExecutor: TaskExecutor, @unchecked Sendable {
        /// A piece of a task between two suspensions, numbered in the order in which they became ready.
        struct Job {
            let number: Int
            let job: UnownedJob
        }

        enum Ending: Hashable {
            /// Nothing is left that could go on.
            case over
            /// Locks wait for each other.
            case deadlock(String)
            /// It took more steps than any program can need.
            case endless
        }

        private static let mostSteps = 100_000

        let clock = ManualClock()
        /// What happened, one line a step, where that is asked for.
        private(set) var trace: [String]?
        private(set) var processors: [Processor] = []
        private var ready: [Job] = []
        private var lastJob = 0
        private var steps = 0
        private var chooser: any Chooser = FirstChooser()
        private var isRunning = false
        private var isClosed = false
        private var ending = Ending.over
        private var quiescence: UnsafeContinuation<Void, Never>?
        /// The numbers of the jobs that can go on.
        private var options: [Int] = []
        private let done = Turn()

        init(processors count: Int = 3) {
            LockProbe.install()
            processors = (0..<count).map { Processor($0, of: self) }
        }

        /// Runs `main` and all that comes of it until nothing can go on. After any other end than `over`, threads stand
        /// where they are forever, and so does the executor.
        func run(
            _ chooser: any Chooser, isTraced: Bool = false, _ main: @escaping @Sendable () async -> Void
        ) -> Ending {
            (self.chooser, trace, steps, lastJob, ending) = (chooser, isTraced ? [] : nil, 0, 0, .over)
            Task.detached(executorPreference: self) { await main() }
            isRunning = true
            choose(after: nil)?.giveTurn()
            done.wait()
            isRunning = false
            return ending
        }

        /// Lets the threads end. Only after runs that were `over`.
        func close() {
            isClosed = true
            for processor in processors { processor.giveTurn() }
        }

        /// Begins a task that runs here.
        @discardableResult
        func spawn(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
            Task.detached(executorPreference: self, operation: work)
        }

        /// Returns when nothing else can go on and nothing sleeps.
        func waitUntilQuiescent() async {
            await withUnsafeContinuation { quiescence = $0 }
        }

        func note(_ step: @autoclosure () -> String) {
            if trace != nil, let processor = Processor.current { trace?.append(line(step(), processor)) }
        }

        func line(_ step: String, _ processor: Processor) -> String {
            "P\(processor.number) job \(processor.job?.number ?? 0): \(step)"
        }
    }

    // The turn.

    extension ControlledExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            precondition(
                !isRunning || Processor.current?.executor === self, "a task came from a thread outside the run")
            lastJob += 1
            ready.append(Job(number: lastJob, job: UnownedJob(job)))
            note("job \(lastJob) becomes ready")
        }

        /// Runs jobs until it is another processor's turn; false where there will be no more.
        func work(on processor: Processor) -> Bool {
            if isClosed { return false }
            repeat {
                note("begins")
                processor.job?.job.runSynchronously(on: asUnownedTaskExecutor())
                processor.job = nil
                let next = choose(after: processor)
                if next === processor { continue }
                next?.giveTurn()
                return true
            } while true
        }

        /// Lets another processor go on, if the chooser likes.
        func point() {
            if let processor = Processor.current, processor.executor === self { pass(from: processor) }
        }

        func pass(from processor: Processor) {
            let next = choose(after: processor)
            if next === processor { return }
            next?.giveTurn()
            processor.waitForTurn()
        }

        /// Who goes on; nil where the run is over.
        @discardableResult
        private func choose(after current: Processor?) -> Processor? {
            steps += 1
            if steps > Self.mostSteps { return end(.endless) }
            if let urgent { return urgent }
            while true {
                options.removeAll(keepingCapacity: true)
                let currentGoesOn = current?.canGoOn ?? false
                if currentGoesOn, let job = current?.job { options.append(job.number) }
                for processor in processors where processor !== current && processor.canGoOn {
                    options.append(processor.job?.number ?? 0)
                }
                let idle = current?.job == nil ? current ?? processors[0] : processors.first { $0.job == nil }
                if idle != nil { options += ready.lazy.map(\.number) }
                if options.isEmpty {
                    // Time passes and the world outside moves where nothing else can happen.
                    if clock.moveToNextDeadline() { continue }
                    if let waiter = quiescence.take() {
                        waiter.resume()
                        continue
                    }
                    return end(lockWaits.map(Ending.deadlock) ?? .over)
                }
                let choice = chooser.choose(
                    from: options, currentGoesOn: currentGoesOn, timeMayPass: clock.sleeperCount > 0)
                guard choice < options.count else {
                    _ = clock.moveToNextDeadline()
                    continue
                }
                let number = options[choice]
                if let processor = processors.first(where: { $0.job?.number == number }) { return processor }
                idle?.job = ready.firstIndex { $0.number == number }.map { ready.remove(at: $0) }
                return idle
            }
        }

        private func end(_ ending: Ending) -> Processor? {
            self.ending = ending
            done.give()
            return nil
        }
    }
#endif
