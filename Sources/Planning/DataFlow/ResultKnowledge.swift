import Workflow

/// Knows the facts that are certain about results when a step that reads them starts.
///
/// Facts that follow from the needs of the step and of the enclosing groups are known at once. Any others become
/// questions; `answer` answers all of them together, and the caller asks again.
struct ResultKnowledge {
    private let workflow: Workflow
    private let resolved: ResolvedNeeds
    /// Made on the first request.
    private lazy var needs = ResultNeeds(workflow, resolved)
    private var answers: [Question: ResultFacts] = [:]
    private var questions: Set<Question> = []
    /// The number of rows that may still be visited to find cycles.
    private var visitsLeft = 1 << 20
    private lazy var mayBeRuledOut = needs.rowsThatMayBeRuledOut()

    struct Question: Hashable {
        let reader: UInt32
        let target: UInt32
    }

    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        self.workflow = workflow
        resolved = needs
    }

    /// The previous member in a group with `order: sequence`; nil for the first one and in other groups.
    mutating func predecessor(of row: Int) -> Int? { needs.predecessor(of: row) }

    /// True if `row` cannot need `target` without closing a cycle.
    mutating func wouldCloseCycle(_ row: Int, needing target: Int) -> Bool {
        needs.waits(target, for: row, limit: &visitsLeft)
    }

    /// Returns the facts that are certain about `target` when `row` starts; empty if it need not have ended. Returns
    /// all facts until the question has its answer. O(depth * log(needs)).
    mutating func facts(about target: Int, for row: Int) -> ResultFacts {
        var facts: ResultFacts = []
        // The needs of the enclosing groups are met, too: the groups have started.
        workflow.forEachAround(row) { facts.formUnion(needs.facts(about: target, when: $0)) }
        guard !facts.contains(.succeeded) else { return facts }
        let question = Question(reader: UInt32(row), target: UInt32(target))
        if let answer = answers[question] { return answer }
        questions.insert(question)
        return .all
    }

    /// Answers the questions so far; false if there are none. O(rows + needs) for 64 results, limited to the rows
    /// between the results and their readers.
    mutating func answer() -> Bool {
        guard !questions.isEmpty else { return false }
        let order = NeedOrder(needs)
        let targets = Set(questions.map(\.target)).sorted { order.position(of: $0) < order.position(of: $1) }
        var place: [UInt32: Int] = [:]
        for (index, target) in targets.enumerated() { place[target] = index }
        // The questions of one pass are adjacent.
        let sorted = questions.map { (question: $0, place: place[$0.target] ?? 0) }.sorted { $0.place < $1.place }
        var pass = ResultPass(needs, order)
        var upcoming = 0
        for first in stride(from: 0, to: targets.count, by: ResultPass.width) {
            let word = targets[first..<min(first + ResultPass.width, targets.count)]
            let start = upcoming
            while upcoming < sorted.count, sorted[upcoming].place < word.endIndex { upcoming += 1 }
            let asked = sorted[start..<upcoming]
            let readers = Set(asked.map(\.question.reader))
            var last = 0
            for reader in readers {
                workflow.forEachAround(Int(reader)) { last = max(last, order.position(of: UInt32($0))) }
            }
            pass.run(to: last, about: word)
            for (question, place) in asked {
                var facts: ResultFacts = []
                workflow.forEachAround(Int(question.reader)) { row in
                    // A row that waits for itself never starts, so nothing about its start is false.
                    facts.formUnion(order.isOrdered(row) ? pass.facts(about: place - first, when: row) : .all)
                }
                answers[question] = facts
            }
        }
        questions = []
        return true
    }

    /// Returns the facts that are certain about a member of a group that has succeeded.
    mutating func facts(aboutMember row: Int) -> ResultFacts {
        // A manual step may have been left out.
        let isSure = !mayBeRuledOut.contains(row) && workflow.nodes[row].settings?.isManual != true
        return isSure ? needs.concluded([.ended, .endedWell], about: row) : .ended
    }
}

extension Workflow {
    /// Calls the body for the row and its enclosing groups, without the workflow itself.
    fileprivate func forEachAround(_ row: Int, _ body: (Int) -> Void) {
        var row = row
        while row != 0 {
            body(row)
            row = nodes[row].parent.row
        }
    }
}

/// The facts that are certain about the end of a step or group when another one starts.
struct ResultFacts: OptionSet, Sendable {
    let rawValue: UInt8

    static let ended = ResultFacts(rawValue: 1)
    /// Ended with success, a tolerated failure or a skip.
    static let endedWell = ResultFacts(rawValue: 2)
    /// Not skipped or ruled out, so that its own needs were met.
    static let started = ResultFacts(rawValue: 4)
    static let succeeded = ResultFacts(rawValue: 8)
    static let all: ResultFacts = [.ended, .endedWell, .started, .succeeded]

    /// The facts implied by a met entry of `needs`.
    init(_ kind: Need.Kind) {
        switch kind {
        case .ok: self = [.ended, .endedWell]
        case .success: self = .all
        case .failure: self = [.ended, .started]
        case .done: self = .ended
        }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// An order in which each row comes after the rows that it needs.
struct NeedOrder {
    /// The rows, without those that wait for themselves.
    let rows: [UInt32]
    private var positions: [UInt32]
    private static let nowhere = UInt32.max

    /// Uses the order of the file if it is valid, because a reader is mostly near its result. O(rows + needs).
    init(_ needs: ResultNeeds) {
        let count = needs.rowCount
        let rows = needs.followFileOrder ? (0..<count).map { UInt32($0) } : needs.awaitedFirst()
        positions = [UInt32](repeating: Self.nowhere, count: count)
        for (position, row) in rows.enumerated() { positions[Int(row)] = UInt32(position) }
        self.rows = rows
    }

    /// True if nothing that the row needs, directly or not, waits for itself.
    func isOrdered(_ row: Int) -> Bool { positions[row] != Self.nowhere }

    /// The position of a row; a row without one counts as after all others.
    func position(of row: UInt32) -> Int { isOrdered(Int(row)) ? Int(positions[Int(row)]) : rows.count }
}

/// Propagates the facts about up to 64 results along all needs, one bit each.
struct ResultPass {
    /// The number of results that one pass handles.
    static let width = 64

    /// The facts that are certain about the targets, one bit each, when a row starts with its needs met. `ended` is
    /// certain even if they are not met.
    private struct Facts {
        var ended: UInt64 = 0
        var endedWell: UInt64 = 0
        var started: UInt64 = 0
        var succeeded: UInt64 = 0
    }

    private let needs: ResultNeeds
    private let order: NeedOrder
    /// By row; left from an earlier pass if the row is not between `first` and `end`.
    private var facts: [Facts]
    /// By row: the bit of a target.
    private var bits: [UInt64]
    private var targets: ArraySlice<UInt32> = []
    private var first = 0
    private var end = 0

    init(_ needs: ResultNeeds, _ order: NeedOrder) {
        self.needs = needs
        self.order = order
        facts = [Facts](repeating: Facts(), count: needs.rowCount)
        bits = [UInt64](repeating: 0, count: needs.rowCount)
    }

    /// Runs from the first of the targets, which are in order, to the position of the last row in question.
    mutating func run(to last: Int, about targets: ArraySlice<UInt32>) {
        for target in self.targets { bits[Int(target)] = 0 }
        self.targets = targets
        for (index, target) in targets.enumerated() { bits[Int(target)] = 1 << UInt64(index) }
        first = targets.first.map(order.position) ?? 0
        end = max(first, min(last + 1, order.rows.count))
        for row in order.rows[first..<end] {
            var known = Facts()
            for edge in needs.edges(of: Int(row)) {
                let target = Int(edge.target)
                let bit = bits[target]
                if edge.facts.contains(.endedWell) { known.endedWell |= bit }
                if edge.facts.contains(.started) { known.started |= bit }
                if edge.facts.contains(.succeeded) { known.succeeded |= bit }
                known.ended |= bit
                // Rows before the first target know of none.
                guard order.position(of: edge.target) >= first else { continue }
                let further = facts[target]
                known.ended |= further.ended
                guard edge.isMet else { continue }
                known.endedWell |= further.endedWell
                known.started |= further.started
                known.succeeded |= further.succeeded
            }
            facts[Int(row)] = known
        }
    }

    /// Returns the facts that are certain about the target with this index when a row starts.
    func facts(about index: Int, when row: Int) -> ResultFacts {
        let position = order.position(of: UInt32(row))
        guard position >= first, position < end else { return [] }
        let (known, bit) = (facts[row], UInt64(1) << UInt64(index))
        var result: ResultFacts = []
        if known.ended & bit != 0 { result.insert(.ended) }
        if known.endedWell & bit != 0 { result.insert(.endedWell) }
        if known.started & bit != 0 { result.insert(.started) }
        if known.succeeded & bit != 0 { result.insert(.succeeded) }
        return result
    }
}
