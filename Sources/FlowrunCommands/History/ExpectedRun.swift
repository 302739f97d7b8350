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

/// The durations of a workflow's steps in its last runs.
struct PastDurations {
    /// The most runs that are read.
    private static let runsRead = 8

    private let directory: StateDirectory
    private let workflow: String

    /// Returns nil if no run of the file has left a record. `stateDirectory` is the value of `--state-dir`.
    init?(ofFile file: String, stateDirectory: String?) {
        let place = StatePlace(file: file, explicit: stateDirectory)
        guard let (directory, workflow) = try? place.existing(skippingUnusable: true), let workflow else { return nil }
        self.directory = directory
        self.workflow = workflow
    }

    /// Returns, for each step of a plan, its duration when it last succeeded. Reads the last runs until all steps are
    /// known. Damaged journals count up to the damage.
    func durations(of plan: Plan) -> StepDurations {
        let runs = (try? RunHistory(in: directory).runs(of: workflow)) ?? []
        let steps = plan.rows.filter { plan.nodes[$0].role == .step }
        var known: [String: Duration] = [:]
        var unknown = steps.count
        var sources: [String] = []
        for run in runs.prefix(Self.runsRead) where unknown > 0 {
            var own: [String: Duration] = [:]
            own.reserveCapacity(unknown)
            run.readDurations { own[$0] = $1 }
            known = known.isEmpty ? own : known.merging(own) { first, _ in first }
            let left = steps.count { known[plan.nodes[$0].id] == nil }
            if left < unknown { sources.append(run.run) }
            unknown = left
        }
        return sources.isEmpty ? .none : StepDurations(known, from: sources)
    }
}
