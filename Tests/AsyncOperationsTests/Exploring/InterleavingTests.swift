#if DEBUG || FLOWRUN_EXPLORE
    import Testing

    /// The public API under every order of things that departs little from the plain one, and under random orders.
    ///
    /// `make proof` sets FLOWRUN_PROOF_INTERLEAVINGS, the number of them. A finding prints the program, made as small as
    /// it gets, and every step of the run. FLOWRUN_PROOF_SEED begins with another program.
    @Suite(.serialized) struct InterleavingTests {
        private static let effort = Effort("FLOWRUN_PROOF_INTERLEAVINGS", otherwise: 1_000)
        private static let threads = 2

        @Test(arguments: Program.known)
        func `what went wrong once goes right in every order of few departures`(known: KnownProgram) async {
            let count = Self.effort.count / 4 / Program.known.count
            await Self.explore { explorer, _ in
                if let finding = explorer.exhaust(known.program, departures: 3, limit: count / 4) { return finding }
                return explorer.walk(known.program, seed: Self.effort.seed, until: count / Self.threads)
            }
        }

        @Test func `programs of up to five operations keep every rule in every order of few departures`() async {
            let count = Self.effort.count * 3 / 8 / Self.threads
            await Self.explore { explorer, thread in
                var seed = Self.effort.seed + UInt64(thread)
                while explorer.runs < count {
                    let program = ProgramGenerator.program(seed: seed, size: 1 + Int(seed % 5))
                    if let finding = explorer.exhaust(program, departures: 3, limit: min(1_000, count)) {
                        return finding
                    }
                    seed += UInt64(Self.threads)
                }
                return nil
            }
        }

        @Test func `programs of any size keep every rule in random orders`() async {
            let count = Self.effort.count * 3 / 8 / Self.threads
            await Self.explore { explorer, thread in
                var seed = Self.effort.seed + UInt64(thread)
                while explorer.runs < count {
                    let program = ProgramGenerator.program(seed: seed, size: ProgramGenerator.size(for: seed))
                    if let finding = explorer.walk(program, seed: seed, until: explorer.runs + 4) { return finding }
                    seed += UInt64(Self.threads)
                }
                return nil
            }
        }

        @Test func `programs with needs in all directions keep every rule in random orders`() async {
            let count = Self.effort.count * 3 / 8 / Self.threads
            await Self.explore { explorer, thread in
                var seed = Self.effort.seed + UInt64(thread)
                while explorer.runs < count {
                    let program = EntangledProgram.unsettled(seed: seed).split(seed: seed, .hasty)
                    if let finding = explorer.walk(program, seed: seed, until: explorer.runs + 4) { return finding }
                    seed += UInt64(Self.threads)
                }
                return nil
            }
        }

        /// Shares the work between threads of its own, because it blocks. Of each, the first finding counts, as small
        /// as it gets.
        private static func explore(
            _ work: @escaping @Sendable (InterleavingExplorer, _ thread: Int) -> InterleavingExplorer.Finding?
        ) async {
            await withTaskGroup { group in
                for thread in 0..<threads {
                    group.addTask {
                        let finding = await Processor.onThread { () -> InterleavingExplorer.Finding? in
                            let explorer = InterleavingExplorer()
                            return work(explorer, thread).map { Shrinker(explorer: explorer).shrink($0) }
                        }
                        if let finding { Issue.record("\(finding)") }
                    }
                }
            }
        }
    }
#endif
