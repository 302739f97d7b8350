internal import RunEvents

/// How far a run is: what the live region and the heartbeat tell of it.
struct RunProgress {
    /// A running step or command of `vars`.
    struct RunningStep {
        let writer: StepOutput.Writer
        /// The id, and what says more.
        let title: String
        /// As in `StepStarted`.
        let view: OutputView?
        /// Measured from the start of the run.
        let start: Duration
        /// Whether no other step has run since.
        fileprivate(set) var isAlone: Bool

        /// nil for a command of `vars`.
        var step: String? { if case .step(let id) = writer { id } else { nil } }
    }

    private(set) var steps = 0
    private(set) var finished = 0
    private(set) var failed = 0
    /// The running steps in the order of their starts. A list, because there are as many as there are jobs and each
    /// event touches one.
    private(set) var running: [RunningStep] = []
    /// The running commands of `vars`.
    private(set) var values: [RunningStep] = []
    private(set) var isPaused = false
    /// Whether the whole run has been asked to end.
    private(set) var isStopping = false
    private(set) var hasEnded = false
    /// Steps in groups that may be tried again which have ended, and whether they failed.
    private var endedInRounds: [String: Bool] = [:]
    /// Copies in such groups, which every round adds anew.
    private var addedInRounds: Set<String> = []

    /// How many have neither ended nor started.
    var waiting: Int { max(0, steps - finished - running.count) }

    /// How many processes of steps and of `vars` run.
    var runningCount: Int { running.count + values.count }

    /// Returns whether the event changes what there is to tell.
    mutating func note(_ event: RunEvent) -> Bool {
        switch event.kind {
        case .runStarted(let run): steps = run.steps
        case .stepStarted(let step):
            if event.round != nil { takeBack(step.step) }
            for index in running.indices { running[index].isAlone = false }
            running.append(
                RunningStep(
                    writer: .step(step.step), title: StepTitle.words(step.step, name: step.name, item: step.item),
                    view: step.view, start: event.elapsed, isAlone: running.isEmpty))
        case .stepFinished(let step):
            stop(step.step)
            let hasFailed = step.outcome == .failure || step.outcome == .timeout
            if event.round != nil {
                takeBack(step.step)
                endedInRounds[step.step] = hasFailed
            }
            finished += 1
            if hasFailed { failed += 1 }
        case .stepRestored: finished += 1
        case .stepRetry(let step, _, _): stop(step)
        case .stepAdded(let step, _):
            if event.round == nil || addedInRounds.insert(step).inserted { steps += 1 }
        case .valueStarted(let start):
            values.append(
                RunningStep(
                    writer: .value(start.value), title: start.value.words, view: nil, start: event.elapsed,
                    isAlone: false))
        case .valueFinished(let end): values.removeAll { $0.writer == .value(end.value) }
        case .runPaused: isPaused = true
        case .runResumed: isPaused = false
        case .runCancelRequested: isStopping = true
        case .runFinished: hasEnded = true
        case .runJobs, .stepRerun, .stepUndoes, .groupStarted, .groupCancelRequested, .groupRetry, .groupFinished,
            .stepOutput, .stepCancelRequested, .stepSignal, .stepAttempt, .ready, .waiting, .lockAcquired,
            .lockReleased,
            .warning:
            return false
        }
        return true
    }

    /// A step in a new round of its group: what it came to in the last one counts no more.
    private mutating func takeBack(_ step: String) {
        guard let hadFailed = endedInRounds.removeValue(forKey: step) else { return }
        finished -= 1
        if hadFailed { failed -= 1 }
    }

    private mutating func stop(_ step: String) {
        if let index = running.firstIndex(where: { $0.step == step }) { running.remove(at: index) }
    }

    /// The longest running first; ties in order of their ids.
    func longestRunning(_ count: Int) -> [RunningStep] {
        Array((running + values).sorted { ($0.start, $0.writer.words) < ($1.start, $1.writer.words) }.prefix(count))
    }
}
