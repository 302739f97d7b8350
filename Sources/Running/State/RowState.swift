internal import Planning
internal import RunLog
internal import Scheduling
internal import Workflow

/// A step or group that has failed or timed out by itself.
struct RootFailure {
    let row: PlanIndex
    let isTimeout: Bool
}

/// A group from its start to its end, and beyond if it may be tried again.
struct GroupProgress {
    /// The current round, from 0; nil if it runs once.
    var round: Int?
    /// nil before its start.
    var start: Duration?
    /// The outcome with which it was stopped as a whole; nil if it was not.
    var stop: OperationOutcome?
    /// True if `drain` has ruled something out in it, although the failure is outside.
    var isDrained = false
    /// True if the instances of a dynamic fan-out are known.
    var isExpanded = false
    /// For a sequence: the effect of its members on later ones.
    var harm = SequenceHarm()
    /// Steps inside, at any depth, and groups with a failure of their own, in the order of their ends.
    var errors: [RootFailure] = []
    var cancelled: [PlanIndex] = []
    var notRun: [PlanIndex] = []
    /// The failures inside in the previous round, tolerated ones excluded: they count again if this round is stopped
    /// before anything in it begins.
    var failuresBefore: [(row: PlanIndex, failure: RunFinished.Failure)] = []
}

/// The facts about a row besides its outcome.
struct RowNote {
    /// The request to end it, in words; at the root, to end the whole run.
    var request: String?
    /// The reason why it did not succeed. Before its end: the failure of its work.
    var cause: Cause?
    /// For a row that was not run: the row to blame, so that a chain of a thousand victims stays two links long.
    var blamed: PlanIndex?
    /// For a row that was not run: the harm of everything that ruled it out.
    var roots: Harm = []
    var result = RowResult()
    /// The end of the output of the command of `vars` that made it fail.
    var tail: OutputTail?
}

/// The results of a step or group besides its outcome, as expressions read them.
struct RowResult {
    /// The status of a step's last attempt; nil if no process ended.
    var status: ExitStatus?
    /// The status that a shell would show, which also covers a program that could not be started.
    var shellStatus: ExitStatus?
    var outputs: [Value.Field] = []
    /// Kept only if an expression names it; otherwise nil.
    var standardOutput: [UInt8]?

    /// True if it is the result of every plain success, so that it need not be kept.
    var isPlain: Bool { status == .exited(0) && outputs.isEmpty && standardOutput == nil }
}

/// The effect of a bad end on the status functions of dependents.
struct Harm: OptionSet {
    let rawValue: UInt8

    /// A row has failed or timed out.
    static let failure = Harm(rawValue: 1)
    static let cancel = Harm(rawValue: 2)
    /// A row was ruled out; the cause does not matter.
    static let absence = Harm(rawValue: 4)
}

/// The first members of a sequence, in file order, that have done harm; all later members see it.
struct SequenceHarm {
    private var failed: PlanIndex?
    private var cancelled: PlanIndex?

    mutating func note(_ row: PlanIndex, _ harm: Harm) {
        if harm.contains(.failure) { failed = min(failed ?? row, row) }
        if harm.contains(.cancel) { cancelled = min(cancelled ?? row, row) }
    }

    func before(_ row: PlanIndex) -> Harm {
        var harm: Harm = []
        if let failed, failed < row { harm.insert(.failure) }
        if let cancelled, cancelled < row { harm.insert(.cancel) }
        return harm
    }
}
