/// The first end of each kind that decides a group's outcome.
struct FirstEnds: Sendable {
    var failure: OperationID?
    var timeout: OperationID?
    var cancelled: OperationID?
    var notRun: OperationID?

    /// Records an end. A `notRun` does not count if the row was ruled out by a failure inside the group, whether that
    /// failure counts or is tolerated.
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
        /// The stage that a started group waits in.
        enum Stage: UInt8, Sendable {
            case body, weighing, onFailure, finally, concluding
            /// The `onFailure` hook, postponed until it was certain that no other round follows.
            case owing
            case over

            /// True if a stop that spares hooks applies to the group.
            var canBeStopped: Bool { self == .body || self == .weighing || self == .concluding }
        }

        /// Direct members of the body that have not ended, plus one while the group is open and one while it expands.
        var unfinishedMembers: Int
        /// The number of operations or members that its limit counts.
        var active = 0
        /// Ready members that wait for the limit.
        var parked = ReadyQueue()
        var stage = Stage.body
        /// True once any work in the body has begun in this round.
        var hasBegun = false
        /// True if it accepts `added` members and does not end yet.
        var isOpen: Bool
        /// True while the answer to its `expand` is awaited.
        var isExpanding = false
        /// True if its members could not be determined.
        var hasFailedToExpand = false
        /// The reason why nothing new starts in it: a failure inside it or inside an enclosing group; nil if there is
        /// none.
        var draining: OperationCause?
        /// The result of the last round, for a group whose next round has been called off.
        var last: (outcome: OperationOutcome, cause: OperationCause)?
        /// The outcome that was decided for the whole group: stopped, skipped or not run.
        var verdict: (outcome: OperationOutcome, cause: OperationCause)?
        var ends = FirstEnds()
        /// Members that joined while it ran; their rows are after all others.
        var additions: [Addition] = []

        /// True while an answer to `expand`, `weigh` or `conclude` is awaited.
        var isAsked: Bool { isExpanding || stage == .weighing || stage == .concluding }

        init(_ group: RowTable.Group) {
            isOpen = group.isOpen
            unfinishedMembers = group.members + (group.isOpen ? 1 : 0)
        }

        /// Records an addition. Merges adjacent rows, so that the list does not grow with each member.
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
