import WorkflowModel

/// What is certain about the end of a step or group when another one starts.
struct ResultFacts: OptionSet, Sendable {
    let rawValue: UInt8

    static let ended = ResultFacts(rawValue: 1)
    /// With success, a tolerated failure or a skip.
    static let endedWell = ResultFacts(rawValue: 2)
    /// It was not skipped or ruled out, so that its own needs were met.
    static let started = ResultFacts(rawValue: 4)
    static let succeeded = ResultFacts(rawValue: 8)

    /// What a met entry of `needs` says.
    init(_ kind: Need.Kind) {
        switch kind {
        case .ok: self = [.ended, .endedWell]
        case .success: self = [.ended, .endedWell, .started, .succeeded]
        case .failure: self = [.ended, .started]
        case .done: self = .ended
        }
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// Finds out what is certain about ancestors, by walking their `needs` backwards.
struct ResultKnowledge {
    private let workflow: Workflow
    private let needs: ResolvedNeeds
    /// The member before each one in its group; 0 for the first.
    private let before: [UInt32]
    /// Needs that may still be walked: a file where everybody reads the end of a long chain is to be refused in linear
    /// time. Where it is used up, only what a step itself needs counts.
    private var budget = 2_000_000
    /// What is known to the one who asked last, by row, and which rows that are, in the order of a walk backwards.
    private var known: [ResultFacts]
    private var walked: [Int] = []
    private var upcoming = 0
    private var asked = -1
    private lazy var mayBeRuledOut = rowsThatMayBeRuledOut()

    init(_ workflow: Workflow, _ needs: ResolvedNeeds) {
        self.workflow = workflow
        self.needs = needs
        var before = [UInt32](repeating: 0, count: workflow.nodes.count)
        var last = [UInt32](repeating: 0, count: workflow.nodes.count)
        for row in workflow.nodes.indices.dropFirst() where workflow.nodes[row].hook == nil {
            let parent = workflow.nodes[row].parent.row
            before[row] = last[parent]
            last[parent] = UInt32(row)
        }
        self.before = before
        known = [ResultFacts](repeating: [], count: workflow.nodes.count)
    }

    /// The member before, in a group with `order: sequence`; nil for the first one and in other groups.
    func predecessor(of row: Int) -> Int? {
        let parent = workflow.nodes[row].parent.row
        guard row != 0, before[row] != 0, workflow.nodes[parent].settings?.isSequence == true else { return nil }
        return Int(before[row])
    }

    /// What is certain about `target` when `row` starts; empty where it need not have ended. Mostly O(needs of the
    /// row); at most those of all ancestors, once per `row`.
    mutating func facts(about target: Int, for row: Int) -> ResultFacts {
        if asked != row { ask(for: row) }
        while !known[target].contains(.succeeded), upcoming < walked.count, budget > 0 {
            let next = walked[upcoming]
            upcoming += 1
            let isSkippedWithNeeds = known[next].contains(.endedWell) && !hasEdgeKinds(next)
            let isMet = known[next].contains(.started) || isSkippedWithNeeds && !waitsForAll(next)
            add(needsOf: next, areMet: isMet)
        }
        return known[target]
    }

    private mutating func ask(for row: Int) {
        for old in walked { known[old] = [] }
        walked.removeAll(keepingCapacity: true)
        upcoming = 0
        asked = row
        // The needs of the groups around are met, too: they have started.
        var start = row
        while start != 0 {
            add(needsOf: start, areMet: true)
            start = workflow.nodes[start].parent.row
        }
    }

    /// A status function in the condition replaces plain needs, not those that say which end they want.
    private mutating func add(needsOf row: Int, areMet: Bool) {
        let arePlainMet = areMet && !waitsForAll(row)
        for entry in needs.range(of: row) {
            let kind = kind(of: entry, in: row)
            let isMet = kind == .ok ? arePlainMet : areMet
            learn(isMet ? ResultFacts(kind) : .ended, about: Int(needs.entries[entry].target))
        }
        if let predecessor = impliedNeed(of: row) { learn(arePlainMet ? ResultFacts(.ok) : .ended, about: predecessor) }
    }

    /// The member before in a sequence, where no entry of `needs` names it and says what end it wants.
    private func impliedNeed(of row: Int) -> Int? {
        guard let predecessor = predecessor(of: row) else { return nil }
        return needs.range(of: row).contains { Int(needs.entries[$0].target) == predecessor } ? nil : predecessor
    }

    private mutating func learn(_ facts: ResultFacts, about row: Int) {
        budget -= 1
        let new = known[row].union(concluded(facts, about: row))
        guard new != known[row] else { return }
        known[row] = new
        walked.append(row)
    }

    /// What a good end says about a row that cannot be skipped and whose failure is not tolerated.
    func concluded(_ facts: ResultFacts, about row: Int) -> ResultFacts {
        guard facts.contains(.endedWell), !mayBeSkipped(row) else { return facts }
        let isTolerant = workflow.nodes[row].settings?.continueOnError == true
        return facts.union(isTolerant ? .started : [.started, .succeeded])
    }

    /// What is certain about a member of a group that has ended with success.
    mutating func facts(aboutMember row: Int) -> ResultFacts {
        // What is manual may have been left out.
        let isSure = !mayBeRuledOut.contains(row) && workflow.nodes[row].settings?.isManual != true
        return isSure ? concluded([.ended, .endedWell], about: row) : .ended
    }

    /// Rows that may not run in a group that succeeds: they want the success of something whose failure is tolerated,
    /// or need such a row. O(rows + needs), once.
    private func rowsThatMayBeRuledOut() -> Set<Int> {
        var worklist = workflow.nodes.indices.filter { row in
            needs.range(of: row).contains { kind(of: $0, in: row) == .success && isTolerated(needs.entries[$0]) }
        }
        guard !worklist.isEmpty else { return [] }
        var dependents: [Int: [Int]] = [:]
        for row in workflow.nodes.indices {
            for entry in needs.range(of: row) where kind(of: entry, in: row) != .done {
                dependents[Int(needs.entries[entry].target), default: []].append(row)
            }
            if let predecessor = impliedNeed(of: row) { dependents[predecessor, default: []].append(row) }
        }
        var found: Set<Int> = []
        while let row = worklist.popLast() {
            if found.insert(row).inserted { worklist += dependents[row] ?? [] }
        }
        return found
    }

    private func kind(of entry: Int, in row: Int) -> Need.Kind {
        workflow.need(Int(needs.entries[entry].position), of: row).kind
    }

    /// Of a fan-out each copy's failure is, and the whole succeeds.
    private func isTolerated(_ need: ResolvedNeeds.Entry) -> Bool {
        guard let settings = workflow.nodes[Int(need.target)].settings else { return false }
        return settings.continueOnError && settings.fanOut == nil
    }

    private func mayBeSkipped(_ row: Int) -> Bool {
        if isConditional(row) || hasKind(row, .failure) { return true }
        // A skip of what has to succeed skips this one as well.
        return needs.range(of: row).contains { entry in
            let target = Int(needs.entries[entry].target)
            return kind(of: entry, in: row) == .success && (isConditional(target) || hasEdgeKinds(target))
        }
    }

    private func isConditional(_ row: Int) -> Bool {
        guard let settings = workflow.nodes[row].settings else { return false }
        // A fan-out whose copies have the condition runs all the same.
        return settings.condition != nil && settings.fanOut?.decidesCopies != true || !settings.platforms.isEmpty
    }

    private func hasEdgeKinds(_ row: Int) -> Bool { hasKind(row, .failure) || hasKind(row, .success) }

    private func hasKind(_ row: Int, _ kind: Need.Kind) -> Bool {
        workflow.needs(of: row).contains { $0.kind == kind }
    }

    /// A condition with a status function decides, however plain needs ended.
    private func waitsForAll(_ row: Int) -> Bool { workflow.nodes[row].settings?.condition?.usesStatus == true }
}
