/// The first of each kind of end that decides the outcome of what it happened in.
struct FirstEnds: Sendable {
    var failure: OperationID?
    var timeout: OperationID?
    var cancelled: OperationID?

    mutating func note(_ id: OperationID, _ outcome: OperationOutcome, isTolerated: Bool) {
        switch outcome {
        case .failure where !isTolerated: failure = failure ?? id
        case .timeout where !isTolerated: timeout = timeout ?? id
        case .cancelled: cancelled = cancelled ?? id
        case .success, .failure, .timeout, .skipped, .notRun: break
        }
    }
}

extension OperationScheduler {
    /// What is known of a group in its present round.
    struct GroupState: Sendable {
        /// What a started group is waiting for.
        enum Stage: UInt8, Sendable {
            case body, onFailure, finally, concluding, over

            /// Whether a stop that spares hooks concerns the group.
            var canBeStopped: Bool { self == .body || self == .concluding }
        }

        /// Direct members of the body that have not ended, and one more while it is open and while it expands.
        var unfinishedMembers: Int
        /// What its limit counts.
        var active = 0
        /// Ready members that found the limit reached.
        var parked = ReadyQueue()
        var stage = Stage.body
        /// Whether work of anything inside has begun in this round.
        var hasBegun = false
        /// Takes `added` members and does not end.
        var isOpen: Bool
        /// Has been asked for its members.
        var isExpanding = false
        /// Its members could not be told.
        var hasFailedToExpand = false
        var draining: OperationCause?
        /// An outcome that was decided for the group as a whole: stopped, skipped or not run.
        var verdict: (outcome: OperationOutcome, cause: OperationCause)?
        var ends = FirstEnds()

        /// Whether an answer to `expand` or `conclude` is to come.
        var isAsked: Bool { isExpanding || stage == .concluding }

        init(_ group: RowTable.Group) {
            isOpen = group.isOpen
            unfinishedMembers = group.members + (group.isOpen ? 1 : 0)
        }
    }
}
