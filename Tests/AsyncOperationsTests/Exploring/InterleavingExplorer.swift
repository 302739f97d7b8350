#if DEBUG || FLOWRUN_EXPLORE
    import AsyncOperations
    import FlowrunTestSupport
    import Synchronization

    /// Runs programs under a `ControlledExecutor` and judges each run.
    final class InterleavingExplorer {
        struct Finding: CustomStringConvertible {
            let problem: String
            let program: Program
            let script: [Int]
            let trace: [String]

            var description: String {
                "\(problem)\n\(program)\nchoices: \(script)\n\(trace.joined(separator: "\n"))"
            }
        }

        private let lastWords = LastWords()
        private var executor = ControlledExecutor()
        /// How many runs there were.
        private(set) var runs = 0
        /// What the last run was seen to do.
        private(set) var events: [ProgramRecord.Event] = []

        deinit { executor.close() }

        /// One run; nil where every rule holds.
        func run(_ program: Program, _ chooser: any Chooser, isTraced: Bool = false) -> Finding? {
            runs += 1
            lastWords.set(program)
            defer { lastWords.set(nil) }
            let executor = executor
            let recorder = RecordingChooser(chooser)
            let stage = Mutex<(run: ProgramRun?, stall: String?)>((nil, nil))
            let ending = executor.run(recorder, isTraced: isTraced) {
                let run = ProgramRun(program, in: Self.world(executor))
                stage.withLock { $0.run = run }
                for client in program.clients {
                    executor.spawn { for action in client { run.perform(action) } }
                }
                await executor.waitUntilQuiescent()
                var tried: [ProgramRun.Remedy: Int] = [:]
                while let remedy = run.remedy(besides: tried) {
                    if let stall = run.stall() {
                        stage.withLock { $0.stall = stall }
                        return
                    }
                    tried[remedy, default: 0] += 1
                    executor.note("\(remedy)")
                    run.apply(remedy)
                    await executor.waitUntilQuiescent()
                }
                for index in program.queues.indices { run.dropQueue(index) }
                for index in program.operations.indices { run.drop(index) }
            }
            let (run, stall) = stage.withLock { $0 }
            events = run?.record.events ?? []
            let problem: String? =
                switch ending {
                case .over: stall ?? run.flatMap { ProgramRules(program, $0.record.events).violation }
                case .deadlock(let waits): "locks wait for each other: \(waits)"
                case .endless: "it goes on without end"
                }
            guard let problem else { return nil }
            // What waits forever keeps its threads and tasks.
            self.executor = ControlledExecutor()
            if let run { _ = Unmanaged.passRetained(run) }
            _ = Unmanaged.passRetained(executor)
            return Finding(problem: problem, program: program, script: recorder.script, trace: executor.trace ?? [])
        }

        private static func world(_ executor: ControlledExecutor) -> ProgramRun.World {
            ProgramRun.World(
                clock: executor.clock, spawn: { executor.spawn($0) },
                cancel: { ControlledExecutor.cancel($0) }, point: { executor.point() },
                note: { event in executor.note("\(event)") })
        }
    }

    // Many runs.

    extension InterleavingExplorer {
        /// All runs that depart from the plain order once, then those that do twice and so on up to `departures`,
        /// `limit` runs in all.
        func exhaust(_ program: Program, departures: Int, limit: Int) -> Finding? {
            let last = runs + limit
            for count in 1...max(1, departures) {
                let chooser = SystematicChooser(departures: count)
                repeat {
                    if let finding = run(program, chooser) { return finding }
                    if runs >= last { return nil }
                } while chooser.next()
            }
            return nil
        }

        /// Runs by chance until there were `count` in all.
        func walk(_ program: Program, seed: UInt64, until count: Int) -> Finding? {
            var seed = seed
            while runs < count {
                if let finding = run(program, RandomChooser(seed: seed)) { return finding }
                seed += 1
            }
            return nil
        }
    }
#endif
