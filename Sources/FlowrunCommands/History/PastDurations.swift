internal import RunControl
internal import RunJournal
internal import WorkflowPlanning

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
        var known: [String: (duration: Duration, run: Int)?] = [:]
        for row in plan.rows where plan.nodes[row].role == .step { known[plan.nodes[row].id] = .some(nil) }
        var unknown = known.count
        var sources: [String] = []
        for (number, run) in runs.prefix(Self.runsRead).enumerated() where unknown > 0 {
            let before = unknown
            run.readDurations { step, duration in
                guard let index = known.index(forKey: step) else { return }
                switch known.values[index] {
                case nil: unknown -= 1
                case (_, number)?: break
                default: return
                }
                known.values[index] = (duration, number)
            }
            if unknown < before { sources.append(run.run) }
        }
        return StepDurations(known.compactMapValues { $0?.duration }, from: sources)
    }
}
