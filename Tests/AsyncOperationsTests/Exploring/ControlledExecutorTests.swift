#if DEBUG || FLOWRUN_EXPLORE
    import Synchronization
    import Testing

    @testable import AsyncOperations

    @Suite struct ControlledExecutorTests {
        /// All runs of `main` with so many departures; true as soon as `isFound` says so.
        private func search(
            departures: Int, _ main: @escaping @Sendable (ControlledExecutor) async -> Void,
            isFound: (ControlledExecutor.Ending) -> Bool
        ) -> Bool {
            let chooser = SystematicChooser(departures: departures)
            repeat {
                let executor = ControlledExecutor()
                let ending = executor.run(chooser) { await main(executor) }
                _ = Unmanaged.passRetained(executor)
                if isFound(ending) { return true }
            } while chooser.next()
            return false
        }

        @Test(arguments: [0, 1]) func `an update between two locks is lost once a thread may be interrupted`(
            departures: Int
        ) {
            let last = Mutex(0)
            let isFound = search(departures: departures) { executor in
                let number = Lock(0)
                let update = { @Sendable in
                    let old = number.withLock { $0 }
                    number.withLock { $0 = old + 1 }
                    last.withLock { $0 = old + 1 }
                }
                executor.spawn { update() }
                executor.spawn { update() }
            } isFound: { _ in
                last.withLock { $0 } == 1
            }
            #expect(isFound == (departures > 0))
        }

        @Test func `locks taken in opposite orders are found to wait for each other`() {
            let isFound = search(departures: 2) { executor in
                let first = Lock(0)
                let second = Lock(0)
                executor.spawn { first.withLock { _ in second.withLock { $0 = 1 } } }
                executor.spawn { second.withLock { _ in first.withLock { $0 = 1 } } }
            } isFound: { ending in
                if case .deadlock = ending { true } else { false }
            }
            #expect(isFound)
        }

        @Test func `time passes where nothing else can happen`() {
            let executor = ControlledExecutor()
            let wakes = Mutex<[Int]>([])
            let ending = executor.run(FirstChooser()) {
                for time in [3, 1, 2] {
                    executor.spawn {
                        try? await executor.clock.sleep(for: .seconds(time))
                        wakes.withLock { $0.append(time) }
                    }
                }
            }
            #expect(ending == .over)
            #expect(wakes.withLock { $0 } == [1, 2, 3])
        }

        @Test func `a run that never ends is ended`() {
            let executor = ControlledExecutor()
            let ending = executor.run(FirstChooser()) { while true { await Task.yield() } }
            #expect(ending == .endless)
            _ = Unmanaged.passRetained(executor)
        }

        @Test func `the same choices give the same run`() throws {
            let program = ProgramGenerator.program(seed: 3, size: 6)
            let traces = (0..<2).map { _ in
                let executor = ControlledExecutor()
                let events = Mutex<[ProgramRecord.Event]>([])
                let world = ProgramRun.World(
                    clock: executor.clock, spawn: { executor.spawn($0) }, cancel: { ControlledExecutor.cancel($0) },
                    point: { executor.point() }, note: { event in events.withLock { $0.append(event) } })
                _ = executor.run(RandomChooser(seed: 7)) {
                    let run = ProgramRun(program, in: world)
                    for client in program.clients { executor.spawn { for action in client { run.perform(action) } } }
                    await executor.waitUntilQuiescent()
                    _ = Unmanaged.passRetained(run)
                }
                _ = Unmanaged.passRetained(executor)
                return events.withLock { $0 }
            }
            // Ids are never reused, but names are.
            #expect("\(traces[0])" == "\(traces[1])")
        }
    }
#endif
