internal import Planning
internal import RunLog

/// How long the steps of a workflow took in its last runs.
struct PastDurations {
    /// The number of runs that are read at most.
    private static let runsRead = 8

    private let directory: StateDirectory
    private let workflow: String

    /// nil where no run of the file has left a record. `stateDirectory` is what `--state-dir` says.
    init?(ofFile file: String, stateDirectory: String?) {
        let place = StatePlace(file: file, explicit: stateDirectory)
        for candidate in [place.preferred, place.fallback].compactMap({ $0 }) {
            guard let directory = try? StateDirectory.existing(candidate.path) else { continue }
            guard let workflow = place.name(in: directory) else { return nil }
            self.directory = directory
            self.workflow = workflow
            return
        }
        return nil
    }

    /// Of each step of a plan the last time that it succeeded. Reads the last runs until it knows all steps. A journal
    /// that is damaged counts as far as it is whole.
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
