package import RunLog
package import Workflow

/// The results of a run that is resumed, and of the runs that it has resumed itself: how steps ended, by id, and the
/// hooks that started.
///
/// The runs have numbers from 0, the earliest first. A moment is a position in the sequence of all their events
/// except output.
package struct PastResults: Sendable {
    /// The last known state of a step.
    package struct Step: Sendable {
        /// The outcome of its process; nil if it had not ended, or if it had none since it was last skipped.
        package let outcome: StepOutcome?
        let isTolerated: Bool
        /// A digest of everything that decided what it did; nil if its result cannot be restored.
        package let definition: String?
        package let outputs: [Value.Field]
        /// The moment at which its process last started or ended.
        let moment: Int
        /// The first run since which its dependents have seen the same result; nil if no run has a process of it that
        /// counts.
        let ran: Int?
        /// The last run in which this result was current: it ran there, or was restored.
        let checked: Int
        /// The runs that ended it without a process, the last one last.
        fileprivate(set) var absences: [Absence] = []
    }

    /// The end of a step without a process.
    struct Absence: Sendable, Hashable {
        let run: Int
        let outcome: StepOutcome
    }

    /// A step of a hook that started, or was about to.
    struct HookStart: Sendable {
        let step: String
        let undoing: Undoing
        let moment: Int
        /// False if it is not recorded that a process existed: a kill came first, or there was none.
        fileprivate(set) var hasProcess = false
    }

    package let run: String
    /// The first run of the chain in which each run has resumed the one before.
    package let origin: String
    /// The runs in the chain, by their numbers.
    package let runs: [String]
    /// The number of runs in the chain.
    var runCount: Int { runs.count }
    package let steps: [String: Step]
    /// Starts that differ, each with the last moment at which it occurred.
    let hooks: [HookStart]
    private let outputs: [String: PastRecord.Output]

    package enum StandardOutput: Sendable, Equatable {
        case known([UInt8])
        /// It was not kept, or not separate from standard error.
        case unknown
        /// It has changed since it was kept.
        case changed
    }

    package init(run: String, origin: String, _ record: PastRecord) {
        self.run = run
        self.origin = origin
        runs = record.runs
        steps = record.steps
        hooks = record.hooks.values.flatMap { $0 }
        outputs = record.outputs
    }

    /// Reads the standard output of a step. Known only for steps whose output the record was asked for.
    func standardOutput(of step: String) -> StandardOutput { outputs[step]?.read() ?? .unknown }
}

extension PastRecord {
    /// The standard output of a step. Bytes in a file stay there until they are read.
    fileprivate struct Output: Sendable {
        private enum Piece: Sendable {
            case bytes([UInt8])
            case stored(@Sendable () -> [UInt8]?)
        }

        private var pieces: [Piece] = []
        /// nil as long as all of it is there.
        private var loss: PastResults.StandardOutput?

        init(_ bytes: [UInt8] = [], loss: PastResults.StandardOutput? = nil) {
            pieces = [.bytes(bytes)]
            self.loss = loss
        }

        mutating func add(
            _ bytes: UnsafeRawBufferPointer, _ read: (@Sendable () -> [UInt8]?)?, loss: PastResults.StandardOutput?
        ) {
            self.loss = self.loss ?? loss
            if self.loss == nil { pieces.append(read.map(Piece.stored) ?? .bytes(Array(bytes))) } else { pieces = [] }
        }

        func read() -> PastResults.StandardOutput {
            if let loss { return loss }
            var all: [UInt8] = []
            for piece in pieces {
                switch piece {
                case .bytes(let bytes): all += bytes
                case .stored(let read):
                    guard let bytes = read() else { return .changed }
                    all += bytes
                }
            }
            return .known(all)
        }
    }
}

/// Folds the events of a chain of runs, the earliest run first.
package struct PastRecord {
    fileprivate private(set) var steps: [String: PastResults.Step] = [:]
    /// By step.
    fileprivate private(set) var hooks: [String: [PastResults.HookStart]] = [:]
    fileprivate private(set) var runs: [String] = []
    private var moment = 0
    /// The last moment before the run began.
    private var runStart = 0
    /// For steps that run again because their failure was tolerated: the earlier failure.
    private var failures: [String: PastResults.Step] = [:]
    private var retries = IDMarks()
    /// The standard output of steps in the last run that has them.
    fileprivate private(set) var outputs: [String: Output] = [:]
    /// As `Plan.outputReads`.
    private let outputReads: Set<String>

    package init(outputReads: Set<String>) { self.outputReads = outputReads }

    /// Starts the events of the next run, by its id. Those of one outside the chain, such as one with other targets, go
    /// to `noteHook`.
    package mutating func beginRun(_ run: String, isOther: Bool = false) {
        runStart = moment
        guard !isOther else { return }
        runs.append(run)
        failures = [:]
    }

    private var run: Int { runs.count - 1 }

    package mutating func note(_ event: RunEvent.Kind) {
        moment += 1
        switch event {
        case .stepUndoes(let step, let undoing):
            hooks[step, default: []].append(PastResults.HookStart(step: step, undoing: undoing, moment: moment))
        case .stepRerun(let rerun):
            if rerun.reason == .outcome, let known = steps[rerun.step], known.isTolerated {
                failures[rerun.step] = known
            }
            noteStart(of: rerun.step)
        case .stepStarted(let step):
            noteOutput(of: step.step, Output())
            guard hooks[step.step] == nil else { return noteProcess(ofHook: step.step) }
            noteStart(of: step.step)
        case .stepFinished(let step):
            if hooks[step.step] != nil {
                noteEnd(ofHook: step)
            } else if step.attempt == 0, !step.outcome.isFailure {
                noteAbsence(of: step.step, step.outcome)
            } else {
                noteEnd(of: step)
            }
        case .stepRestored(let step):
            noteOutput(of: step.step, step.standardOutput.map { Output($0) } ?? Output(loss: .unknown))
            note(
                step.step, .success, step.definition, step.outputs, at: moment, ran: steps[step.step]?.ran ?? run)
        case .groupRetry(let retry): retries.note(retry.group, IDMarks.Mark(moment: moment, hook: ""))
        default: break
        }
    }

    private mutating func noteOutput(of step: String, _ output: Output) {
        if !outputReads.isEmpty, outputReads.contains(step.withoutInstances) { outputs[step] = output }
    }

    /// Adds to the output of a step. `read` reads the bytes again; nil if only the event has them. `loss` is the
    /// reason why bytes are missing; nil if they are there.
    package mutating func note(
        _ output: StepOutput, read: (@Sendable () -> [UInt8]?)?, loss: PastResults.StandardOutput?
    ) {
        guard !outputs.isEmpty, output.stream != .stderr, let step = output.step else { return }
        // Where the two streams went together, nothing read standard output in that run.
        outputs[step]?.add(output.bytes, read, loss: output.stream == .stdout ? loss : loss ?? .unknown)
    }

    /// Notes an event of a run outside the chain: only the starts of its hooks count.
    package mutating func noteHook(_ event: RunEvent.Kind) {
        switch event {
        case .stepUndoes: note(event)
        case .stepStarted(let step) where hooks[step.step] != nil: note(event)
        case .stepFinished(let step) where hooks[step.step] != nil: note(event)
        default: break
        }
    }

    private mutating func noteStart(of step: String) {
        steps[step] = PastResults.Step(
            outcome: nil, isTolerated: false, definition: nil, outputs: [], moment: moment, ran: run, checked: run,
            absences: steps[step]?.absences ?? [])
    }

    private mutating func noteEnd(of step: StepFinished) {
        var ran = run
        if let before = failures.removeValue(forKey: step.step), before.hasSameEnd(as: step) { ran = before.ran ?? run }
        note(
            step.step, step.outcome, step.definition, step.outputs, isTolerated: step.isTolerated, at: moment, ran: ran)
    }

    private mutating func note(
        _ step: String, _ outcome: StepOutcome, _ definition: String?, _ outputs: [LoggedValue],
        isTolerated: Bool = false, at moment: Int, ran: Int
    ) {
        let values = outputs.compactMap { output in
            (try? Value(json: output.json)).map { Value.Field(name: output.name, value: $0) }
        }
        var absences = steps[step]?.absences ?? []
        // The absence comes from an earlier round of an enclosing group.
        if absences.last?.run == run { absences.removeLast() }
        steps[step] = PastResults.Step(
            outcome: outcome, isTolerated: isTolerated, definition: values.count == outputs.count ? definition : nil,
            outputs: values, moment: moment, ran: ran, checked: run, absences: absences)
    }

    private mutating func noteAbsence(of step: String, _ outcome: StepOutcome) {
        let absence = PastResults.Absence(run: run, outcome: outcome)
        // A skipped step has nothing to restore. All other absences leave the step undecided and its result as it
        // was.
        guard outcome != .skipped, var known = steps[step] else {
            var absences = steps[step]?.absences ?? []
            if absences.last?.run == run { absences.removeLast() }
            steps[step] = PastResults.Step(
                outcome: nil, isTolerated: false, definition: nil, outputs: [], moment: moment, ran: nil, checked: run,
                absences: absences + [absence])
            return
        }
        if known.absences.last?.run == run { known.absences.removeLast() }
        known.absences.append(absence)
        steps[step] = known
    }

    private mutating func noteProcess(ofHook step: String) {
        guard var starts = hooks[step], var start = starts.popLast(), !start.hasProcess else { return }
        start.hasProcess = true
        // A hook that starts in each run is kept once.
        if let before = starts.last, before.undoing == start.undoing { starts.removeLast() }
        starts.append(start)
        hooks[step] = starts
    }

    /// Removes the start of a hook for which the machine had no process.
    private mutating func noteEnd(ofHook step: StepFinished) {
        guard step.attempt == 0, let start = hooks[step.step]?.last, !start.hasProcess, start.moment > runStart
        else { return }
        hooks[step.step]?.removeLast()
    }

    /// Discards the results of rounds that were followed by another one.
    package mutating func end() {
        guard !retries.isEmpty else { return }
        for (id, step) in steps where step.moment < retries.last(of: id)?.moment ?? -1 && step.ran != nil {
            steps[id] = PastResults.Step(
                outcome: nil, isTolerated: false, definition: nil, outputs: [], moment: step.moment, ran: step.ran,
                checked: step.checked, absences: step.absences)
        }
    }
}

extension PastResults.Step {
    /// Returns true if a tolerated failure is followed by one that is indistinguishable from it.
    fileprivate func hasSameEnd(as end: StepFinished) -> Bool {
        isTolerated && outcome == end.outcome && definition != nil && definition == end.definition
    }
}
