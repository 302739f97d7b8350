import AsyncOperations

/// What has to hold for every run of every program, whatever went on first: judged by what was seen, in order.
struct ProgramRules {
    let program: Program
    let events: [ProgramRecord.Event]
    private(set) var ends: [Int: (place: Int, outcome: OperationOutcome)] = [:]
    private(set) var parents: [Int: Int] = [:]
    private(set) var entries: [Int: [Int]] = [:]

    init(_ program: Program, _ events: [ProgramRecord.Event]) {
        self.program = program
        self.events = events
        for (place, event) in events.enumerated() {
            switch event {
            case .ended(let index, let outcome) where ends[index] == nil: ends[index] = (place, outcome)
            case .memberAccepted(let member, let compound): parents[member] = compound
            case .entered(let index, _, _): entries[index, default: []].append(place)
            default: break
            }
        }
    }

    /// The first rule that does not hold.
    var violation: String? {
        let rules: [(ProgramRules) -> String?] = [
            \.misheard, \.endsOnce, \.waitersAreToldTheEnd, \.membersEndBeforeTheirCompound, \.edgesAreKept,
            \.bodiesFitTheirEnds, \.limitsAreKept, \.serialIsInOrder, \.mutexesExclude, \.poolsAreKept, \.barriersHold,
            \.suspensionHolds, \.cancelHolds, \.refusalsAreRight,
        ]
        return rules.lazy.compactMap { $0(self) }.first
    }

    private var misheard: String? {
        events.lazy.compactMap { if case .misheard(let problem) = $0 { problem } else { nil } }.first
    }

    private var endsOnce: String? {
        for index in program.operations.indices {
            let count = events.count { if case .ended(index, _) = $0 { true } else { false } }
            if count == 0 { return "o\(index) never ended" }
            if count > 1 { return "the completion of o\(index) was called \(count) times" }
        }
        let waiting = events.count { $0 == .waiting } - events.count { $0 == .waited }
        return waiting == 0 ? nil : "\(waiting) waiting tasks never went on"
    }

    private var waitersAreToldTheEnd: String? {
        for (place, event) in events.enumerated() {
            guard case .told(let index, let outcome) = event, let end = ends[index] else { continue }
            if outcome != end.outcome { return "a waiter of o\(index) got \(outcome), its completion \(end.outcome)" }
            if place < end.place { return "a waiter of o\(index) woke before its completion was called" }
        }
        return nil
    }

    private var membersEndBeforeTheirCompound: String? {
        for (member, compound) in parents {
            guard let end = ends[member], let outerEnd = ends[compound] else { continue }
            if outerEnd.place < end.place { return "o\(compound) ended before its member o\(member)" }
            let isHarmless =
                switch end.outcome {
                case .success, .skipped: true
                case .failure, .timeout: program.operations[member].toleratesFailure
                // By something inside that the compound operation does not mind.
                case .notRun: hasToleratedFailure(inside: compound)
                case .cancelled: false
                }
            if outerEnd.outcome == .success, !isHarmless {
                return "o\(compound) is a success though its member o\(member) is \(end.outcome)"
            }
        }
        return nil
    }

    private func hasToleratedFailure(inside compound: Int) -> Bool {
        ends.contains { index, end in
            isInside(index, compound) && program.operations[index].toleratesFailure
                && [.failure, .timeout].contains(end.outcome)
        }
    }

    /// The operation and what was around it.
    func around(_ index: Int) -> [Int] {
        Array(sequence(first: index) { parents[$0] })
    }

    func isInside(_ index: Int, _ outer: Int) -> Bool { around(index).contains(outer) }

    private var edgesAreKept: String? {
        for (place, event) in events.enumerated() {
            guard case .needAccepted(let dependent, let other, let kind) = event else { continue }
            // What was to be taken away may be in force or not; of two kinds for one, the later counts.
            let isSettled = !events.contains {
                switch $0 {
                case .needRemoved(dependent, other): true
                case .needAccepted(dependent, other, let later): later != kind
                default: false
                }
            }
            // Ends inside what may be tried again are told when that ends.
            let isInRounds = around(dependent).contains { program.operations[$0].attempts > 1 && isInside(other, $0) }
            guard isSettled, !isInRounds, let end = ends[other] else { continue }
            for (index, places) in entries where isInside(index, dependent) {
                // Between two rounds there may be a new need.
                guard let entry = places.first(where: { rounds(dependent) == 1 || $0 > place }) else { continue }
                if entry < end.place { return "o\(index) began before o\(other), which o\(dependent) needs, had ended" }
                if !isMet(kind, end.outcome, program.operations[other].toleratesFailure) {
                    return "o\(index) began though o\(other), which o\(dependent) needs (\(kind)), is \(end.outcome)"
                }
            }
            if let own = ends[dependent], !isMet(kind, end.outcome, program.operations[other].toleratesFailure),
                [.success, .failure].contains(own.outcome)
            {
                return "o\(dependent) is \(own.outcome) though o\(other), which it needs (\(kind)), is \(end.outcome)"
            }
        }
        return nil
    }

    /// How often a body may be entered at most.
    func rounds(_ index: Int) -> Int {
        around(index).reduce(1) { $0 * program.operations[$1].attempts }
    }

    /// What a body was not let wait for, because it could not end before that, has not ended while the body stayed.
    private var refusalsAreRight: String? {
        // A body that takes long to say what it started is taken for one that waits, and what it started is cancelled.
        let isCancelled = events.contains { if case .cancelled = $0 { true } else { false } }
        guard program.isCalm, !isCancelled else { return nil }
        for (place, event) in events.enumerated() {
            guard case .refused(let index, let other?) = event, let end = ends[other] else { continue }
            // Something on the way may be ruled out by something else, or let go, which cannot be foreseen.
            let beyond = beyond(other)
            if beyond.contains(where: { [.notRun, .skipped, .cancelled].contains(ends[$0]?.outcome) }) { continue }
            // So may be another wait on the way, which is in another cycle; the way may lead over a mutex.
            let wanted = mutexes(of: beyond)
            let isFreed = events.contains { event in
                guard case .refused(let waiter, _) = event, waiter != index else { return false }
                return beyond.contains(waiter) || !mutexes(of: around(waiter)).isDisjoint(with: wanted)
            }
            if isFreed { continue }
            let left = events[place...].firstIndex { if case .left(index, _) = $0 { true } else { false } }
            if let left, end.place < left, index != other {
                return "o\(other) ended before o\(index), which was told that it could not"
            }
        }
        return nil
    }

    private func mutexes(of operations: some Sequence<Int>) -> Set<String> {
        Set(operations.compactMap { program.operations[$0].mutex })
    }

    /// What an operation waits for, over any number of steps, and itself.
    private func beyond(_ index: Int) -> Set<Int> {
        var found: Set<Int> = [index]
        var pending = [index]
        while let next = pending.popLast() {
            let members = parents.filter { $0.value == next }.map(\.key)
            let needs = events.compactMap { if case .needAccepted(next, let other, _) = $0 { other } else { nil } }
            let awaited = program.operations[next].steps.compactMap(\.awaited)
            for other in around(next) + members + needs + awaited where found.insert(other).inserted {
                pending.append(other)
            }
        }
        return found
    }

    private func isMet(_ kind: DependencyKind, _ outcome: OperationOutcome, _ isTolerated: Bool) -> Bool {
        switch (kind, outcome) {
        case (.done, _), (.ok, .success), (.ok, .skipped), (.success, .success): true
        case (.failure, .failure), (.failure, .timeout): true
        case (.ok, .failure), (.ok, .timeout): isTolerated
        default: false
        }
    }

    private var bodiesFitTheirEnds: String? {
        for (index, operation) in program.operations.enumerated() where !operation.isCompound {
            guard let end = ends[index] else { continue }
            let places = entries[index] ?? []
            let last = events.last { if case .left(index, _) = $0 { true } else { false } }
            if let entry = places.last, entry > end.place { return "o\(index) began after its end" }
            if case .body = operation.kind, places.count > rounds(index) {
                return "o\(index) was entered \(places.count) times"
            }
            switch (end.outcome, last) {
            case (.success, .left(_, .value)?), (.failure, .left(_, .error)?): break
            case (.success, nil) where operation.kind == .waterfall && operation.steps.isEmpty: break
            case (.success, _), (.failure, _): return "o\(index) is \(end.outcome) though its body did not end so"
            case (.skipped, _?) where rounds(index) == 1, (.notRun, _?) where rounds(index) == 1:
                return "o\(index) is \(end.outcome) though it ran"
            default: break
            }
        }
        return nil
    }
}
