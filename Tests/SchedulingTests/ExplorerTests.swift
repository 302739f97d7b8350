import Glibc
import Testing

@testable import Scheduling

/// Random workflows with groups in groups, mutexes on steps and groups, pools, needs, conditions, failures, limits of
/// time, empty lists, `fail-fast`, retries, hooks, cancels and pauses, in whatever order things happen: the small ones
/// in every order, the others in some. In every other one, conditions, lists and outcomes of groups are told late; in
/// every other one of both, conditions wait for errands, which wait for slots.
///
/// `make proof` sets FLOWRUN_PROOF_WORKFLOWS, so that a hundred thousand of them are looked at.
@Suite struct ExplorerTests {
    private static let workflows = getenv("FLOWRUN_PROOF_WORKFLOWS").flatMap { Int(String(cString: $0)) } ?? 400
    private static let batches = 16

    @Test(arguments: 0..<batches) func `no workflow stalls, whatever happens in whatever order`(batch: Int) {
        for seed in stride(from: batch, to: Self.workflows, by: Self.batches) {
            guard let finding = Self.explore(UInt64(seed), .takesEverything) else { continue }
            Issue.record("workflow \(seed): \(finding.problem), after \(finding.way)")
            return
        }
    }

    @Test
    func `where groups take only what they name themselves, the explorer finds stalls, and the scheduler tells them`() {
        var stalls = 0
        // Few of them have a cycle of holders, so the search goes on until there are enough.
        for seed in 0..<UInt64(4000) where (seed < 400 || stalls < 10) && !Self.scenario(seed).namesAreNested {
            guard let finding = Self.explore(seed, .takesItsOwn) else { continue }
            #expect(finding.isToldStall, "\(finding.problem)")
            stalls += 1
        }
        #expect(stalls >= 10)
    }

    /// Three of four are small.
    private static func scenario(_ seed: UInt64) -> Scenario {
        Scenario(seed: seed, size: seed % 4 == 3 ? 60 : 5 + Int(seed % 4), isPlain: false)
    }

    private static func explore(
        _ seed: UInt64, _ rule: OperationScheduler.HolderRule
    ) -> Explorer.Finding? {
        let run = ExploredRun(
            scenario(seed), rule, answersLate: seed / 4 % 2 == 1, decidesByErrands: seed / 8 % 2 == 1)
        guard seed % 4 == 3 else { return Explorer.exhaust(run, limit: 400).finding }
        var random = SplitMix(seed: seed)
        for _ in 0..<4 {
            if let finding = Explorer.walk(run, using: &random) { return finding }
        }
        return nil
    }
}
