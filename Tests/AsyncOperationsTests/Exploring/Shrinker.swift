#if DEBUG || FLOWRUN_EXPLORE
    /// Makes a program smaller as long as some interleaving of it still breaks the same rule.
    struct Shrinker {
        let explorer: InterleavingExplorer
        /// How many interleavings a smaller program gets to show it.
        var tries: UInt64 = 300

        func shrink(_ finding: InterleavingExplorer.Finding) -> InterleavingExplorer.Finding {
            var best = finding
            var hasShrunk = true
            while hasShrunk {
                hasShrunk = false
                for smaller in best.program.smaller.sorted(by: { $0.weight < $1.weight }) {
                    guard smaller.weight < best.program.weight else { continue }
                    guard let finding = find(in: smaller, like: best) else { continue }
                    best = finding
                    hasShrunk = true
                    break
                }
            }
            return explorer.run(best.program, ScriptedChooser(best.script), isTraced: true) ?? best
        }

        private func find(
            in program: Program, like other: InterleavingExplorer.Finding
        ) -> InterleavingExplorer.Finding? {
            if let finding = explorer.run(program, ScriptedChooser(other.script)), finding.rule == other.rule {
                return finding
            }
            for seed in 0..<tries {
                if let finding = explorer.run(program, RandomChooser(seed: seed)), finding.rule == other.rule {
                    return finding
                }
            }
            return nil
        }
    }

    extension InterleavingExplorer.Finding {
        /// The problem without the numbers of this program.
        var rule: String { String(problem.filter { !$0.isNumber }) }
    }
#endif
