internal import Planning
internal import RunLog
internal import Scheduling

/// A step or group that has failed or timed out by itself.
struct RootFailure {
    let row: PlanIndex
    let isTimeout: Bool
}

/// A group from its start to its end, and after it if it may be tried again.
struct GroupProgress {
    /// Which time it runs, from 0; nil if it runs once.
    var round: Int?
    /// nil before its start.
    var start: Duration?
    /// The outcome that it was stopped with as a whole; nil if it was not.
    var stop: OperationOutcome?
    /// Whether `drain` has ruled something out in it, though what failed stands outside.
    var isDrained = false
    /// Of a dynamic fan-out: whether its copies are known.
    var isExpanded = false
    /// For a sequence: the effect of its members on later ones.
    var harm = SequenceHarm()
    /// Steps inside, at any depth, and groups with a failure of their own, in the order of their ends.
    var errors: [RootFailure] = []
    var cancelled: [PlanIndex] = []
    var notRun: [PlanIndex] = []
    /// What had failed inside in the round before, tolerated failures apart: it counts again if this round is stopped
    /// before anything in it begins.
    var failuresBefore: [(row: PlanIndex, failure: RunFinished.Failure)] = []
}
