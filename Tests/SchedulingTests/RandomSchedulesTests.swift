import Glibc
import Testing

@testable import Scheduling

/// Ten thousand random graphs in virtual time, each held against the invariants of the event log. `make proof` sets
/// FLOWRUN_PROOF_SCENARIOS, so that a million of them are looked at.
@Suite struct RandomSchedulesTests {
    private static let scenarios = getenv("FLOWRUN_PROOF_SCENARIOS").flatMap { Int(String(cString: $0)) } ?? 5_000

    // I1-I10, B2, B4, D17, H5, O4, Q10
    @Test(arguments: 0..<10) func `the invariants hold for random scenarios`(batch: Int) {
        for seed in UInt64(batch * Self.scenarios / 10)..<UInt64((batch + 1) * Self.scenarios / 10) {
            let scenario = Scenario(seed: seed)
            let run = VirtualRun(
                scenario.graph, width: scenario.width, groupsWaitForTheirTurn: scenario.groupsWaitForTheirTurn,
                tellsLocks: true, events: scenario.events,
                answers: scenario.answers, inspect: \.idleness
            ) { scenario.behaviour(of: $0, attempt: $1) }
            var check = InvariantCheck(run, scenario)
            if let broken = check.firstBroken() {
                Issue.record("seed \(seed): \(broken)")
                return
            }
        }
    }
}

extension OperationScheduler {
    /// Something that could start and was not started (I10). A lock or an instance slot may be promised to an operation
    /// that waits for a slot of the width; as long as all of those are taken, nothing is lost by that.
    var idleness: String? {
        guard !clocks.isSuspended, !isFinished, running < width else { return nil }
        for (row, state) in states.enumerated() where state.phase == .ready || state.phase == .blocked {
            let id = OperationID(row)
            if state.phase == .ready, !isDecided(id), missingLock(for: id) == nil {
                if !waitsForTurn(id) {
                    if has(id, .isHook) || !isFull(parentGroup(of: id), for: .members) {
                        return "I10: \(id) could start"
                    }
                } else if fullLimit(around: id) == nil {
                    return "I10: \(id) could start"
                }
            }
            if state.phase == .blocked, id != .root, state.pendingNeeds == 0, !isDecided(id), !has(id, .isHook),
                !has(id, .isExternal), states[parent(of: id).row].phase == .executing, isBehindWhatHasEnded(id)
            {
                return "I10: \(id) is forgotten"
            }
        }
        return nil
    }
    /// Looks at the members themselves, not at the record of the sequence, which may be wrong.
    private func isBehindWhatHasEnded(_ id: OperationID) -> Bool {
        let group = parent(of: id)
        guard has(group, .isSequence) else { return true }
        return (group.row + 1..<id.row).allSatisfy {
            parent(of: OperationID($0)) != group || states[$0].phase == .finished
        }
    }
}
