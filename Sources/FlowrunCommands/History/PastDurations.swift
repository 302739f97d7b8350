internal import Planning
internal import RunLog

/// The durations of a workflow's steps in its last runs.
struct PastDurations {
    /// The most runs that are read.
    private static let runsRead = 8

    private let directory: StateDirectory
    private let workflow: String

    /// Returns nil if no run of the file has left a record. `stateDirectory` is the value of `--state-dir`.
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
