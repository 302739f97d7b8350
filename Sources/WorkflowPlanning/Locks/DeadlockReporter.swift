import SourceDiagnostics
import WorkflowModel

/// Words for groups whose mutexes can deadlock.
struct DeadlockReporter {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    private let graph: DependencyGraph
    private let locks: LockTable

    private static let mostNamed = 4

    init(_ workflow: Workflow, _ needs: ResolvedNeeds, _ graph: DependencyGraph, _ locks: LockTable) {
        self.workflow = workflow
        self.needs = needs
        self.graph = graph
        self.locks = locks
    }

    /// What every group of the circle holds, every hop from there to what it waits for, and the way out.
    func diagnostic(for turns: [DeadlockFinder.Turn], _ relations: inout HolderRelations) -> Diagnostic {
        var notes: [Diagnostic.Note] = []
        for (index, turn) in turns.enumerated() {
            let mutex = turns[(index + turns.count - 1) % turns.count].mutex
            let holder = path(turn.holder)
            notes.append(note("`\(holder)` holds `\(locks.names[mutex])` to its end", turn.holder, mutex))
            for hop in turn.path {
                let reason = graph.reason(hop.edge, of: hop.vertex)
                guard reason != .ownStart else { continue }
                let target = graph.row(of: Int(graph.targets[hop.edge]))
                let words = WaitHop(reason, of: graph.row(of: hop.vertex), on: target, in: workflow, needs)
                notes.append(Diagnostic.Note(words.message, at: words.range))
            }
            let following = path(turns[(index + 1) % turns.count].holder)
            notes.append(
                note(
                    "`\(path(turn.waiter))` waits for `\(locks.names[turn.mutex])`, which `\(following)` holds",
                    turn.waiter, turn.mutex))
        }
        notes += instanceNotes(turns, &relations)
        return Diagnostic(
            .lockDeadlock, message(turns), in: workflow.file, at: notes.first?.range ?? .beginning, notes: notes,
            fix: fix(turns))
    }

    /// Holders that wait for each other in more ways than could be looked at.
    func undecided(_ holders: [Int]) -> Diagnostic {
        Diagnostic(
            .lockDeadlock, "\(holders.count) groups hold mutexes and wait in too many ways to rule out a deadlock",
            in: workflow.file, at: holders.first.map { workflow.nodes[$0].range } ?? .beginning,
            notes: holders.prefix(Self.mostNamed).map {
                Diagnostic.Note("`\(path($0))` is one of them", at: workflow.nodes[$0].range)
            },
            fix: Diagnostic.Fix("order them with `needs`, or let them take all their mutexes at once, when they start"))
    }

    private func message(_ turns: [DeadlockFinder.Turn]) -> String {
        if let turn = turns.first, turns.count == 1 {
            let name = locks.names[turn.mutex]
            return "deadlock: `\(path(turn.holder))` holds `\(name)` and waits for `\(path(turn.waiter))`, which wants "
                + "`\(name)` too"
        }
        var parts = turns.prefix(Self.mostNamed).enumerated().map { index, turn in
            let held = locks.names[turns[(index + turns.count - 1) % turns.count].mutex]
            return "`\(path(turn.holder))` holds `\(held)` and waits for `\(locks.names[turn.mutex])`"
        }
        if turns.count > parts.count { parts.append("…") }
        return "possible deadlock: " + parts.joined(separator: ", ")
    }

    private func fix(_ turns: [DeadlockFinder.Turn]) -> Diagnostic.Fix {
        if let turn = turns.first, turns.count == 1 {
            return Diagnostic.Fix(
                "let `\(path(turn.holder))` start after `\(path(turn.waiter))` has ended, by `needs`, or remove "
                    + "`\(locks.names[turn.mutex])` from one of the two")
        }
        let names = turns.map { "`\(path($0.holder))`" }
        let mutexes = Set(turns.map(\.mutex)).sorted().map { locks.names[$0] }.joined(separator: ", ")
        let all =
            names.prefix(Self.mostNamed).joined(separator: " and ") + (names.count > Self.mostNamed ? " and …" : "")
        return Diagnostic.Fix(
            "order \(all) with `needs`, or let each take `mutex: [\(mutexes)]` when it starts, not its members")
    }

    /// Where holders that are ordered in one instance meet because there are several.
    private func instanceNotes(
        _ turns: [DeadlockFinder.Turn], _ relations: inout HolderRelations
    ) -> [Diagnostic.Note] {
        var fanOuts: Set<Int> = []
        for (index, turn) in turns.enumerated() {
            for other in turns[(index + 1)...] {
                if let fanOut = relations.instancesNeeded(turn.holder, other.holder) { fanOuts.insert(fanOut) }
            }
        }
        return fanOuts.sorted().map { row in
            Diagnostic.Note(
                "the instances of `\(path(row))` run at the same time",
                at: workflow.nodes[row].settings?.fanOut?.range ?? workflow.nodes[row].range)
        }
    }

    private func note(_ message: String, _ row: Int, _ mutex: Int) -> Diagnostic.Note {
        Diagnostic.Note(message, at: locks.wish(of: row, for: mutex)?.range ?? workflow.nodes[row].range)
    }

    private func path(_ row: Int) -> String { workflow.path(of: NodeIndex(row)) }
}
