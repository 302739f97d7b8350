@testable import Scheduling

/// A run of the real scheduler in which somebody else decides what happens next: a value, so that it can be taken up
/// again from any moment.
struct ExploredRun {
    enum Step {
        case ended(OperationID, OperationOutcome)
        /// A question is answered.
        case answer(Int)
        case errandEnded(Errand)
        /// What is due next, if only a limit of time, comes due.
        case time
        case outside(Int)
        case resume
    }

    private(set) var scheduler: OperationScheduler
    /// The first thing that went wrong.
    private(set) var problem: String?
    /// Whether that is a stall which the scheduler told by itself.
    private(set) var isToldStall = false
    /// The way here, for a message.
    private(set) var way: [String] = []

    private let answers: VirtualRun.Answers
    /// Whether questions wait for an answer like everything else, and are not answered on the spot.
    private let answersLate: Bool
    private var questions: [OperationScheduler.Command] = []
    /// True if a condition is answered only once an errand has ended, like one that reads the value of a command.
    private let decidesByErrands: Bool
    /// The rows whose conditions wait for errands; none for an errand that no row waits for any more.
    private var errands: [Errand: OperationID] = [:]
    /// Errands that are still to be asked for, that wait for a slot, and that run.
    private var newErrands: [Errand] = []
    private var waitingErrands: [Errand] = []
    private var runningErrands: Set<Errand> = []
    private let widest: Int
    private var errandCount = 0
    private var time = Duration.zero
    private var wake: Duration?
    /// Running operations, and whether they were told to stop.
    private var running: [OperationID: Bool] = [:]
    private var backingOff: Set<OperationID> = []
    private var isSuspended = false
    private var outside: [OperationScheduler.Event]
    private var held: [LockID: Set<OperationID>] = [:]

    init(
        _ scenario: Scenario, _ rule: OperationScheduler.HolderRule = .takesEverything, answersLate: Bool = false,
        decidesByErrands: Bool = false
    ) {
        self.answersLate = answersLate
        self.decidesByErrands = decidesByErrands
        scheduler = OperationScheduler(
            scenario.graph, width: scenario.width, groupsWaitForTheirTurn: scenario.groupsWaitForTheirTurn,
            holderRule: rule)
        scheduler.tellsLocks = true
        answers = scenario.answers
        widest = scenario.events.reduce(scenario.width) {
            if case .width(let width) = $1.1 { max($0, width) } else { $0 }
        }
        outside = scenario.events.map(\.1).filter {
            switch $0 {
            case .resume: false
            default: true
            }
        }
        handle(.begin)
    }

    /// Everything that can happen now; empty where all is over or nothing can.
    var steps: [Step] {
        guard !scheduler.isFinished, problem == nil else { return [] }
        var steps: [Step] = []
        for (id, isStopped) in running.sorted(by: { $0.key < $1.key }) {
            steps.append(.ended(id, .failure))
            if !isStopped { steps.append(.ended(id, .success)) }
        }
        steps += questions.indices.map(Step.answer)
        steps += runningErrands.sorted { $0.number < $1.number }.map(Step.errandEnded)
        if wake != nil { steps.append(.time) }
        steps += outside.indices.map(Step.outside)
        if isSuspended { steps.append(.resume) }
        return steps
    }

    mutating func take(_ step: Step) {
        way.append("\(step)")
        switch step {
        case .ended(let id, let outcome):
            running[id] = nil
            handle(.ended(id, outcome, mayRetry: true))
        case .answer(let index):
            if let answer = answer(to: questions.remove(at: index)) { handle(answer) }
        case .errandEnded(let errand):
            runningErrands.remove(errand)
            if let row = errands.removeValue(forKey: errand) { questions.append(.decide(row)) }
            handle(.errandEnded(errand))
        case .time:
            time = wake ?? time
            wake = nil
            handle(.time)
        case .outside(let index): handle(outside.remove(at: index))
        case .resume: handle(.resume)
        }
    }

    private mutating func handle(_ event: OperationScheduler.Event) {
        for command in scheduler.handle(event, at: time) { note(command) }
        sendErrands()
        // One at a time: what joins begins where the answer before it ended.
        while !answersLate, !questions.isEmpty {
            guard let answer = answer(to: questions.removeFirst()) else { continue }
            for command in scheduler.handle(answer, at: time) { note(command) }
            sendErrands()
        }
        if let idleness = scheduler.idleness { fail(idleness) }
        if questions.isEmpty, running.isEmpty, runningErrands.isEmpty, backingOff.isEmpty, !isSuspended,
            !scheduler.isFinished, scheduler.unfinishedExternals == 0
        {
            fail("nothing can happen, and the scheduler does not tell")
        }
        if runningErrands.count + running.count > widest { fail("more run than there are slots") }
        guard scheduler.isFinished else { return }
        if !scheduler.locks.isAllFree { fail("locks are left taken") }
        if problem == nil, let wrong = DecisionJudge(scheduler).problem() { fail(wrong) }
    }

    /// Asks for the slots of errands that conditions wait for, and takes back those that no condition waits for any
    /// more.
    private mutating func sendErrands() {
        while let event = nextErrandEvent() {
            for command in scheduler.handle(event, at: time) { note(command) }
        }
    }

    private mutating func nextErrandEvent() -> OperationScheduler.Event? {
        if let index = waitingErrands.firstIndex(where: { errands[$0] == nil }) {
            return .errandEnded(waitingErrands.remove(at: index))
        }
        newErrands.removeAll { errands[$0] == nil }
        guard let errand = newErrands.first else { return nil }
        newErrands.removeFirst()
        waitingErrands.append(errand)
        return .errand(errand)
    }

    private mutating func fail(_ problem: String) { self.problem = self.problem ?? problem }

    private func answer(to command: OperationScheduler.Command) -> OperationScheduler.Event? {
        switch command {
        case .decide(let id): return .decided(id, answers.decide(id))
        case .expand(let id):
            return answers.expand(id, scheduler.count).map { .expanded(id, $0) }
                ?? .ended(id, .failure, mayRetry: true)
        case .weigh(let id, let outcome): return .ended(id, outcome, mayRetry: answers.conclude(id, outcome).1)
        case .conclude(let id, let outcome):
            let (outcome, mayRetry) = answers.conclude(id, outcome)
            return .ended(id, outcome, mayRetry: mayRetry)
        default: return nil
        }
    }

    private mutating func note(_ command: OperationScheduler.Command) {
        switch command {
        case .start(let id, _): running[id] = false
        case .stop(let id, _): running[id] = true
        case .wake(let time): wake = time
        case .retrying(let id, _, let delay): if delay > .zero { backingOff.insert(id) }
        case .ready(let id): backingOff.remove(id)
        case .finished(let id, _, _):
            backingOff.remove(id)
            // A condition is of no interest any more.
            questions.removeAll { $0 == .decide(id) }
            errands = errands.filter { $0.value != id }
        case .decide(let id) where decidesByErrands:
            errandCount += 1
            let errand = Errand(errandCount)
            errands[errand] = id
            newErrands.append(errand)
        case .startErrand(let errand):
            waitingErrands.removeAll { $0 == errand }
            runningErrands.insert(errand)
        case .decide, .expand, .weigh, .conclude: questions.append(command)
        case .withdraw(let id):
            let isAsked = questions.contains {
                switch $0 {
                case .expand(let asked), .weigh(let asked, _), .conclude(let asked, _): asked == id
                default: false
                }
            }
            if !isAsked { fail("\(id) is to be answered, and was not asked") }
        case .suspended: isSuspended = true
        case .resumed: isSuspended = false
        case .stalled(let waits):
            isToldStall = problem == nil
            fail("it stalls: \(waits.map { "\($0.waiter) \($0.reason)" })")
        case .acquired(let lock, let id):
            held[lock, default: []].insert(id)
            checkRivals(of: id, for: lock)
        case .released(let lock, let id): held[lock]?.remove(id)
        case .groupResumed(let id): backingOff.remove(id)
        case .groupStarted, .groupStopping, .waiting: break
        }
    }

    /// Who have a mutex at the same time are inside each other.
    private mutating func checkRivals(of id: OperationID, for lock: LockID) {
        guard scheduler.graph.isMutex(lock) else { return }
        for other in held[lock] ?? [] where other != id && !isInside(id, other) && !isInside(other, id) {
            fail("\(id) takes \(lock), which \(other) has")
        }
    }

    private func isInside(_ row: OperationID, _ group: OperationID) -> Bool {
        var next = row
        while next != .root {
            next = scheduler.parent(of: next)
            if next == group { return true }
        }
        return false
    }

    /// The same for runs that can only go on alike, as far as phases, counts and what is left to happen can tell.
    var fingerprint: Int {
        var hasher = Hasher()
        for state in scheduler.states {
            hasher.combine(state.phase)
            hasher.combine(state.outcome)
            hasher.combine(state.pendingNeeds)
        }
        for group in scheduler.groups {
            hasher.combine(group.stage)
            hasher.combine(group.unfinishedMembers)
            hasher.combine(group.active)
            hasher.combine(group.hasBegun)
            hasher.combine(group.verdict?.outcome)
            hasher.combine(group.draining)
            hasher.combine(group.last?.outcome)
        }
        for (id, jury) in scheduler.juries.sorted(by: { $0.key < $1.key }) {
            hasher.combine(id)
            hasher.combine(jury.isOver)
            hasher.combine(jury.hasOthers)
        }
        for (id, memory) in scheduler.sequences.sorted(by: { $0.key < $1.key }) {
            hasher.combine(id)
            hasher.combine(memory.rows)
        }
        for (id, progress) in scheduler.progress.sorted(by: { $0.key < $1.key }) {
            hasher.combine(id)
            hasher.combine(progress.begun)
            hasher.combine(progress.isOver)
        }
        hasher.combine(running)
        hasher.combine(backingOff)
        hasher.combine(questions)
        // By the waiting rows, because the numbers of errands grow.
        hasher.combine(runningErrands.map { errands[$0]?.row ?? -1 }.sorted())
        hasher.combine(waitingErrands.map { errands[$0]?.row ?? -1 })
        hasher.combine(isSuspended)
        hasher.combine(scheduler.width)
        hasher.combine(wake.map { $0 - time })
        for event in outside { hasher.combine("\(event)") }
        return hasher.finalize()
    }
}

/// Looks for a way in which a run gets stuck.
enum Explorer {
    struct Finding {
        let problem: String
        let isToldStall: Bool
        let way: [String]
    }

    /// Every order of what can happen, or, where there are more than `limit` moments, so many of them.
    static func exhaust(_ start: ExploredRun, limit: Int) -> (finding: Finding?, moments: Int) {
        var seen: Set<Int> = [start.fingerprint]
        var pending = [start]
        while let run = pending.popLast() {
            if let finding = finding(in: run) { return (finding, seen.count) }
            guard seen.count < limit else { break }
            for step in run.steps {
                var next = run
                next.take(step)
                if seen.insert(next.fingerprint).inserted { pending.append(next) }
            }
        }
        return (nil, seen.count)
    }

    /// One order, by chance. Not endless: attempts, limits of time and what happens outside are used up.
    static func walk(_ start: ExploredRun, using random: inout SplitMix) -> Finding? {
        var run = start
        while let step = run.steps.randomElement(using: &random) { run.take(step) }
        return finding(in: run)
    }

    private static func finding(in run: ExploredRun) -> Finding? {
        run.problem.map { Finding(problem: $0, isToldStall: run.isToldStall, way: run.way) }
    }
}
