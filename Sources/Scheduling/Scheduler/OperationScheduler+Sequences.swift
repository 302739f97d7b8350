// Groups whose members run one after another: each depends on all before it.

/// How the members of a sequence have ended, so that each one can be checked against all before it without an edge for
/// each pair.
struct SequenceMemory: Sendable {
    /// The row of the first member that has not ended, or the end of the group.
    var next: Int
    /// Members whose end an `.ok` edge would not accept, in the order of their ends.
    var failed: [OperationID] = []
    var timedOut: [OperationID] = []
    var ruledOut: [OperationID] = []

    init(of group: OperationID) { next = group.row + 1 }

    var rows: [OperationID] { failed + timedOut + ruledOut }

    mutating func note(_ id: OperationID, _ outcome: OperationOutcome, isTolerated: Bool) {
        switch outcome {
        case .failure where !isTolerated: failed.append(id)
        case .timeout where !isTolerated: timedOut.append(id)
        case .cancelled, .notRun: ruledOut.append(id)
        case .success, .skipped, .failure, .timeout: break
        }
    }

    func renumbered(by renumbering: RowRenumbering) -> SequenceMemory {
        var memory = self
        memory.next = renumbering.position(of: next)
        memory.failed = failed.compactMap { renumbering[$0] }
        memory.timedOut = timedOut.compactMap { renumbering[$0] }
        memory.ruledOut = ruledOut.compactMap { renumbering[$0] }
        return memory
    }
}

extension OperationScheduler {
    /// True if everything before a row has ended, for a member of a sequence.
    @inline(__always)  // A call would copy the scheduler.
    func isItsTurn(_ id: OperationID) -> Bool {
        let group = parent(of: id)
        guard has(group, .isSequence), !has(id, .isHook) else { return true }
        return sequences[group]?.next ?? group.row + 1 >= id.row
    }

    /// Records the end of a member, and moves on the member whose turn it is now.
    mutating func goOn(inSequence group: OperationID, after id: OperationID) {
        sequences[group, default: SequenceMemory(of: group)]
            .note(id, states[id.row].outcome, isTolerated: has(id, .toleratesFailure))
        guard let next = passEnded(inSequence: group) else { return }
        consider(next)
    }

    /// The first member that has not ended; nil if all have. O(members passed).
    @discardableResult
    mutating func passEnded(inSequence group: OperationID) -> OperationID? {
        let end = Int(graph.table.rows[group.row].subtreeEnd)
        var next = sequences[group]?.next ?? group.row + 1
        while next < end, states[next].phase == .finished { next = Int(graph.table.rows[next].subtreeEnd) }
        sequences[group, default: SequenceMemory(of: group)].next = next
        return next < end && !has(OperationID(next), .isHook) ? OperationID(next) : nil
    }

    /// The earlier member whose end rules the row out, a failure first, then a timeout; nil if none does. For members
    /// that the row itself depends on only those edges count. O(edges of the row).
    func harm(inSequenceBefore id: OperationID) -> (id: OperationID, rank: Int)? {
        // A hook runs whatever happened.
        guard id != .root, !has(id, .isHook), has(parent(of: id), .isSequence), let memory = sequences[parent(of: id)]
        else { return nil }
        for (members, rank) in [(memory.failed, 3), (memory.timedOut, 2), (memory.ruledOut, 1)] {
            // A member that was cancelled before its turn may come after the row.
            let first = members.first { $0.row < id.row && !needs.leads(from: id, to: $0, .dependency) }
            if let first { return (first, rank) }
        }
        return nil
    }
}
