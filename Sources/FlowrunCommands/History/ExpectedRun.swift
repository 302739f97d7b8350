internal import Planning
internal import RunLog
internal import Running

/// A simulated run of a plan in which each step takes as long as when it last succeeded.
struct ExpectedRun {
    let durations: StepDurations
    /// Steps of the simulated run for which no successful run is known.
    let newSteps: Set<PlanIndex>
    /// The order of its steps, with their simulated starts and ends.
    let order: RunOrder
    private let plan: Plan

    /// Reading the journals of more steps would delay a run.
    private static let mostSteps = 10_000

    /// Returns nil if no duration is known, or if there are too many steps. `plan` is an outline; `jobs` steps run at
    /// once.
    init?(_ plan: Plan, jobs: Int, from runs: PastDurations, known: KnownValues) {
        guard plan.stepCount <= Self.mostSteps else { return nil }
        let durations = runs.durations(of: plan)
        guard !durations.isEmpty else { return nil }
        order = RunOrder(plan, jobs: jobs, durations: durations.lengths(of: plan), known: known)
        let run = order.run
        newSteps = Set(
            plan.rows.filter {
                run.spans[$0.offset] != nil && !plan.isMilestone($0) && durations[plan.nodes[$0].id] == nil
            })
        self.durations = durations
        self.plan = plan
    }

    /// The duration of the simulated run; nil if a step is new.
    var makespan: Duration? { newSteps.isEmpty ? order.run.makespan : nil }

    /// nil if a step is new.
    var estimate: RunEstimate? {
        guard newSteps.isEmpty else { return nil }
        return RunEstimate(
            plan.rows.compactMap { row in
                order.run.spans[row.offset].map { .init(step: plan.nodes[row].id, start: $0.start, finish: $0.finish) }
            })
    }
}
