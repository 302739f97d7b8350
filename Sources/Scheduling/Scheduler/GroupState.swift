/// The first end of each kind that decides the outcome of a group.
struct FirstEnds: Sendable {
    var failure: OperationID?
    var timeout: OperationID?
    var cancelled: OperationID?
    var notRun: OperationID?

    /// An end as `notRun` does not count if a failure inside the group, which counts or is tolerated, ruled the row
    /// out.
    mutating func note(
        _ id: OperationID, _ outcome: OperationOutcome, isTolerated: Bool, countsIfNotRun: Bool = false
    ) {
        switch outcome {
        case .failure where !isTolerated: failure = failure ?? id
        case .timeout where !isTolerated: timeout = timeout ?? id
        case .cancelled: cancelled = cancelled ?? id
        case .notRun where countsIfNotRun: notRun = notRun ?? id
        case .success, .failure, .timeout, .skipped, .notRun: break
        }
    }

    var rows: [OperationID] { [failure, timeout, cancelled, notRun].compactMap(\.self) }

    func renumbered(by renumbering: RowRenumbering) -> FirstEnds {
        FirstEnds(
            failure: failure.flatMap { renumbering[$0] }, timeout: timeout.flatMap { renumbering[$0] },
            cancelled: cancelled.flatMap { renumbering[$0] }, notRun: notRun.flatMap { renumbering[$0] })
    }
}

extension OperationScheduler {
    /// The state of a group in its current round.
    struct GroupState: Sendable {
        /// What a started group is waiting for.
        enum Stage: UInt8, Sendable {
            case body, weighing, onFailure, finally, concluding
            /// The hook for failures, which waits until a round is known to be the last.
            case owing
            case over

            /// Whether a stop that spares hooks concerns the group.
            var canBeStopped: Bool { self == .body || self == .weighing || self == .concluding }
        }

        /// Direct members of the body that have not ended, and one more while it is open and while it expands.
        var unfinishedMembers: Int
        /// How many its limit counts.
        var active = 0
        /// Ready members that wait for the limit.
        var parked = ReadyQueue()
        var stage = Stage.body
        /// Whether work of anything in the body has begun in this round.
        var hasBegun = false
        /// Takes `added` members and does not end.
        var isOpen: Bool
        /// Whether it was asked for its members.
        var isExpanding = false
        /// Whether its members could not be determined.
        var hasFailedToExpand = false
        /// Why nothing new starts in it: a failure inside it, or inside a group around it.
        var draining: OperationCause?
        /// The result of the last round, for a group whose further round has been called off.
        var last: (outcome: OperationOutcome, cause: OperationCause)?
        /// The outcome that was decided for the group as a whole: stopped, skipped or not run.
        var verdict: (outcome: OperationOutcome, cause: OperationCause)?
        var ends = FirstEnds()
        /// Members that joined while it ran, behind all others.
        var additions: [Addition] = []

        /// True while an answer to `expand`, `weigh` or `conclude` is awaited.
        var isAsked: Bool { isExpanding || stage == .weighing || stage == .concluding }

        init(_ group: RowTable.Group) {
            isOpen = group.isOpen
            unfinishedMembers = group.members + (group.isOpen ? 1 : 0)
        }

        /// Merges rows that follow each other, so that the list does not grow with each member.
        mutating func note(_ addition: Addition) {
            if let last = additions.last, last.isExpansion == addition.isExpansion,
                last.rows.upperBound == addition.rows.lowerBound
            {
                additions[additions.count - 1].rows = last.rows.lowerBound..<addition.rows.upperBound
            } else {
                additions.append(addition)
            }
        }

        mutating func renumber(by renumbering: RowRenumbering) {
            parked.renumber(by: renumbering)
            ends = ends.renumbered(by: renumbering)
            if let (outcome, cause) = verdict { verdict = (outcome, cause.renumbered(by: renumbering)) }
            if let (outcome, cause) = last { last = (outcome, cause.renumbered(by: renumbering)) }
            draining = draining?.renumbered(by: renumbering)
            let old = additions
            additions = []
            for var addition in old {
                addition.rows = renumbering[addition.rows]
                if !addition.rows.isEmpty { note(addition) }
            }
        }
    }
}
