#if DEBUG || FLOWRUN_EXPLORE
    import AsyncOperations
    import Testing

    /// Changes in one call and in several, in any order, on one to three queues, come to the same.
    ///
    /// `make proof` sets FLOWRUN_PROOF_SPLITS to the number of programs. A finding prints the program, made as small as
    /// it gets, with its changes in no order, then the split that goes wrong. FLOWRUN_PROOF_SEED begins with another.
    @Suite(.serialized) struct SplitTests {
        private static let effort = Effort("FLOWRUN_PROOF_SPLITS", otherwise: 150)
        private static let threads = 2

        @Test func `every split and order of the changes of a program has the same ends, or is refused with the path`()
            async
        {
            await withTaskGroup { group in
                for thread in 0..<Self.threads {
                    group.addTask {
                        let finding = await Processor.onThread { Self.firstFinding(thread) }
                        if let finding { Issue.record("\(finding)") }
                    }
                }
            }
        }

        private static func firstFinding(_ thread: Int) -> SplitFinding? {
            let judge = SplitJudge()
            for number in stride(from: thread, to: effort.count, by: threads) {
                let seed = effort.seed + UInt64(number)
                let program = EntangledProgram.settled(seed: seed)
                if let finding = judge.finding(in: program) { return judge.shrink(finding, seed: seed) }
            }
            return nil
        }
    }

    struct SplitFinding: CustomStringConvertible {
        /// The number of the program that it was found in.
        var seed: UInt64?
        let problem: String
        let program: Program
        let split: Program
        /// What was seen, in order.
        let events: [ProgramRecord.Event]

        var description: String {
            (seed.map { "program \($0): " } ?? "")
                + "\(problem)\n\(program)\n— as —\n\(split)\n" + events.map { "\($0)" }.joined(separator: "\n")
        }
        /// The problem without the numbers of this program.
        var rule: String { String(problem.prefix { $0 != ":" }.filter { !$0.isNumber }) }
    }

    /// Runs a program in several splits and compares what it comes to.
    final class SplitJudge {
        private struct Outcome {
            var ends: [Int: OperationOutcome] = [:]
            var refusals: [UsageError] = []
        }

        private let explorer = InterleavingExplorer()
        private let splits: UInt64 = 3

        /// The first split that comes to something else than all changes in as few calls as possible.
        func finding(in program: Program) -> SplitFinding? {
            let together = program.together
            let (expected, problem) = outcome(of: together, FirstChooser())
            if let problem { return finding(problem.problem, program, together) }
            for pace in Program.Pace.allCases {
                for seed in 0..<splits {
                    let split = program.split(seed: seed, pace)
                    let (outcome, problem) = outcome(of: split, RandomChooser(seed: seed))
                    if let problem { return finding(problem.problem, program, split) }
                    if let difference = difference(of: outcome, from: expected, program, pace) {
                        return finding(difference, program, split)
                    }
                }
            }
            return nil
        }

        private func finding(_ problem: String, _ program: Program, _ split: Program) -> SplitFinding {
            SplitFinding(problem: problem, program: program, split: split, events: explorer.events)
        }

        private func outcome(
            of program: Program, _ chooser: any Chooser
        ) -> (Outcome, InterleavingExplorer.Finding?) {
            let finding = explorer.run(program, chooser)
            var outcome = Outcome()
            for event in explorer.events {
                switch event {
                case .ended(let index, let end): outcome.ends[index] = end
                case .callRefused(let error): outcome.refusals.append(error)
                default: break
                }
            }
            return (outcome, finding)
        }

        private func difference(
            of outcome: Outcome, from expected: Outcome, _ program: Program, _ pace: Program.Pace
        ) -> String? {
            for case .cycle(let path) in outcome.refusals where path.count < 2 || path.first != path.last {
                return "a cycle is not closed: \(path)"
            }
            // What bodies wait for and add, they do at any time.
            let hasCalls = program.haveBodiesCalls
            let unexpected = outcome.refusals.first { error in
                switch error {
                case .cycle: false
                case .alreadyStarted, .alreadyFinished, .closed: pace != .hasty && !hasCalls
                // A wait has started it.
                case .alreadyEnqueued: !hasCalls
                default: true
                }
            }
            if let unexpected { return "a change is refused for another reason than a ring: \(unexpected)" }
            guard let refusal = outcome.refusals.first else {
                // What is refused before anything starts is refused in every order. But a compound operation with a
                // mutex takes those of later members when they need them.
                if let refusal = expected.refusals.first {
                    let mayDiffer = pace != .suspended || hasCalls || program.isContended && program.hasJoins
                    return mayDiffer ? nil : "not refused, but together: \(refusal)"
                }
                // A body may wait for what another would have added after it, which is then let go.
                let isLetGo = [outcome, expected].contains { $0.ends.values.contains(.cancelled) }
                if hasCalls, isLetGo { return nil }
                // What comes late may miss the first rounds.
                if pace == .hasty, program.operations.contains(where: { $0.attempts > 1 }) { return nil }
                for index in program.operations.indices where outcome.ends[index] != expected.ends[index] {
                    let ends = [outcome.ends[index], expected.ends[index]].map { $0.map { "\($0)" } ?? "nothing" }
                    return "another end than together: o\(index) is \(ends[0]), not \(ends[1])"
                }
                return nil
            }
            // What runs already may hold what a change would make it wait for.
            let mayDiffer = pace == .hasty || hasCalls || pace == .running && program.isContended
            if expected.refusals.isEmpty, !mayDiffer { return "refused, but not together: \(refusal)" }
            return nil
        }

        /// As small as it gets with the same kind of problem.
        func shrink(_ finding: SplitFinding, seed: UInt64) -> SplitFinding {
            var best = finding
            var hasShrunk = true
            while hasShrunk {
                hasShrunk = false
                for smaller in best.program.smaller.sorted(by: { $0.weight < $1.weight }) {
                    guard smaller.weight < best.program.weight, smaller.clients.count == 1,
                        let finding = self.finding(in: smaller), finding.rule == best.rule
                    else { continue }
                    best = finding
                    hasShrunk = true
                    break
                }
            }
            best.seed = seed
            return best
        }
    }

#endif
