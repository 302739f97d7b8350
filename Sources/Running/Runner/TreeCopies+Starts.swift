internal import Basics
package import Planning
internal import Processes
internal import RunLog
internal import Workflow

extension TreeCopies {
    /// Returns the same with the starts of all isolated groups of a resuming run: a step may be restored only into the
    /// very copy in which it ran, otherwise all of its group is restored or all of it runs again. Starts nothing.
    /// O(rows), once more for each round of groups that have to run again because others do.
    @EventLoopActor
    package func judged(for plan: Plan, options: RunOptions) -> TreeCopies {
        var copies = self
        var options = options
        options.temporaryFolder = nil
        let groups = plan.rows.filter {
            plan.isIsolated($0) || plan.isDynamicFanOut($0) && plan.hasIsolation(inside: $0)
        }
        while true {
            options.treeCopies = copies
            options.treeCopies?.isForecast = true
            let runner = WorkflowRunner(plan, options: options, reporters: [])
            let forecast = runner.forecast(isCautious: true) { _ in false }
            let before = copies.starts.filter { $0.value == .new }
            copies.starts = before
            for group in groups where !plan.rowAndAround(group).contains(where: { copies.starts[$0] == .new }) {
                copies.starts[group] = copies.start(of: group, in: plan, forecast, options.past)
            }
            if copies.starts.values.count(where: { $0 == .new }) == before.count { return copies }
        }
    }

    /// Returns nil if nothing in the group has succeeded before.
    private func start(
        of group: PlanIndex, in plan: Plan, _ forecast: [PlanIndex: ResumeForecast], _ past: PastResults?
    ) -> Start? {
        let rows = [group] + plan.rows(inside: group)
        let steps = rows.filter { plan.isStep($0) && !plan.isMilestone($0) && !plan.isInHook($0) }
        let forecasts = steps.map { forecast[$0] }
        var results = steps.compactMap { past?.steps[plan.nodes[$0].id] }
        // The instances of a fan-out that only the run knows have no rows yet.
        let open = rows.filter(plan.isDynamicFanOut).map { "\(plan.nodes[$0].id)[" }
        if let past, !open.isEmpty {
            for (id, step) in past.steps where open.contains(where: id.hasPrefix) { results.append(step) }
        }
        results.removeAll { $0.outcome != .success }
        guard !results.isEmpty || !open.isEmpty else { return nil }
        if forecasts.contains(.takenOver), let past, let first = firstRun(ofCopyFor: plan.nodes[group].id, past),
            results.allSatisfy({ $0.ran ?? 0 >= first })
        {
            return .kept
        }
        let needsNone =
            open.isEmpty && forecasts.allSatisfy { $0 == .takenOver || $0 == nil }
            && !rows.contains { plan.nodes[$0].hook == .finally || plan.asksMore($0) }
        return needsNone ? .restored : .new
    }

    /// Returns the number of the first run whose steps ran in the copy that is there; nil if there is none, or if
    /// another run than the resumed ones was the last to use it.
    private func firstRun(ofCopyFor id: String, _ past: PastResults) -> Int? {
        guard let copy = folder.map({ TreeCopy(of: id, in: $0) }), let record = copy.record, record.path == copy.path,
            past.runs.contains(record.user)
        else { return nil }
        return past.runs.firstIndex(of: record.maker) ?? 0
    }
}
