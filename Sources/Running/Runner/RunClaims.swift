internal import Planning
package import Processes
internal import Scheduling
internal import Workflow

/// The claims that a live run has not given up, for other runs of the same file: those that wait for it, and those
/// inside of its own steps, to which it lends what it has not begun.
///
/// A run claims everything before its first step and never takes more, so what it has given up stays free. Costs
/// nothing until another run asks.
@EventLoopActor
package final class RunClaims {
    /// A run that waits until claims are given up.
    private struct Waiter {
        let claims: Set<Claim>
        /// The row that was found to hold one of them last.
        var holder: PlanIndex
        let tell: @EventLoopActor () -> Void
    }

    private unowned let runner: WorkflowRunner
    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    /// The groups whose members may run again, or whose hooks may undo them, among the first `rowsKnown` rows.
    private var goingBack: Set<PlanIndex> = []
    private var rowsKnown = PlanIndex.root

    init(of runner: WorkflowRunner) { self.runner = runner }

    private var plan: Plan { _read { yield runner.plan } }

    /// Calls `tell` once this run has given up all of `claims`, perhaps at once. Returns the number by which `forget`
    /// withdraws that.
    package func wait(for claims: Set<Claim>, _ tell: @escaping @EventLoopActor () -> Void) -> Int {
        lastNumber += 1
        waiters[lastNumber] = Waiter(claims: claims, holder: .root, tell: tell)
        noteEnds()
        return lastNumber
    }

    package func forget(_ number: Int) { waiters[number] = nil }

    /// Lends claims to a run inside of one of this run's steps. Until `end(loan:)` this run starts no step that needs
    /// one of them. Returns nil if this run is using some of them, which `inUse` then names, in no order.
    package func lend(_ claims: Set<Claim>, inUse: inout [Claim]) -> Int? {
        inUse = Array(claims.intersection(claimsInUse))
        guard inUse.isEmpty else { return nil }
        lastNumber += 1
        runner.control.loans[lastNumber] = claims
        return lastNumber
    }

    package func end(loan: Int) {
        guard runner.control.loans.removeValue(forKey: loan) != nil else { return }
        for attempt in runner.attempts.values.sorted(by: { $0.row < $1.row }) { attempt.resume() }
    }

    /// The claims of steps that have begun and not ended, and the locks of groups that have.
    private var claimsInUse: Set<Claim> {
        var used: Set<Claim> = []
        for (row, attempt) in runner.attempts where attempt.hadProcess { used.formUnion(plan.claims(around: row)) }
        for row in plan.rows where !plan.isStep(row) && runner.state.runningRound(of: row) != nil {
            used.formUnion(plan.locks(of: row))
        }
        return used
    }

    /// Tells the waiters whose claims have been given up since the last call.
    func noteEnds() {
        guard !waiters.isEmpty else { return }
        for row in rowsKnown..<plan.rows.upperBound {
            if plan.hasRounds(row) { goingBack.insert(row) }
            if plan.nodes[row].hook != nil { goingBack.insert(plan.parent(of: row)) }
        }
        rowsKnown = plan.rows.upperBound
        for number in waiters.keys.sorted() {
            guard var waiter = waiters[number] else { continue }
            if let holder = holder(of: waiter.claims, from: waiter.holder) {
                waiter.holder = holder
                waiters[number] = waiter
            } else {
                waiters[number] = nil
                waiter.tell()
            }
        }
    }

    /// Returns the first row from `start` on, and then from the beginning, that holds one of these claims; nil if none
    /// does. Rows do not begin again except in the rounds of a group, which holds its members' claims itself.
    private func holder(of claims: Set<Claim>, from start: PlanIndex) -> PlanIndex? {
        guard runner.outcome == nil else { return nil }
        return (start..<plan.rows.upperBound).first { holds($0, one: claims) }
            ?? (plan.rows.lowerBound..<start).first { holds($0, one: claims) }
    }

    private func holds(_ row: PlanIndex, one claims: Set<Claim>) -> Bool {
        guard !isGivenUp(row) else { return false }
        guard plan.isStep(row) || plan.isDynamicFanOut(row) else {
            return !claims.isDisjoint(with: plan.locks(of: row))
        }
        return !claims.isDisjoint(with: plan.claims(around: row))
    }

    /// True once a row has ended, and every group around it that may run it again, or that has hooks.
    private func isGivenUp(_ row: PlanIndex) -> Bool {
        guard runner.state.outcome(of: row) != nil else { return false }
        var group = row
        while group != .root {
            group = plan.parent(of: group)
            if goingBack.contains(group), runner.state.outcome(of: group) == nil { return false }
        }
        return true
    }
}
