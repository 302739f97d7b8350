internal import Processes
internal import RunLog
internal import Scheduling

/// Numbers the events of one run, stamps them and hands them to every reporter. All events of a run pass through here.
@EventLoopActor
final class EventRecorder {
    private let reporters: [any Reporter]
    /// Those that show lines before they end; none without a terminal.
    private var viewers: [any Reporter] = []
    /// Returns true if the log can take the output of steps; while it returns false, the output waits.
    let mayTakeOutput: @EventLoopActor () -> Bool
    /// Hands everything recorded so far, in journal and log, to the kernel, so that it survives a kill; nil if nothing
    /// has to.
    var writeAhead: (@EventLoopActor () -> Void)?
    private let clock: any RunClock
    private let start: EventLoopClock.Instant
    private var nextSequence = 0
    private var wantsTicks = false
    private var scheduledTick: Duration?

    /// The time that a change by an event may wait to be shown.
    private static let tickInterval = Duration.milliseconds(100)

    init(_ reporters: [any Reporter], clock: any RunClock, mayTakeOutput: @escaping @EventLoopActor () -> Bool) {
        self.reporters = reporters
        self.clock = clock
        self.mayTakeOutput = mayTakeOutput
        start = clock.now
    }

    /// The time since the run started.
    var elapsed: Duration { start.duration(to: clock.now) }

    func record(_ kind: consuming RunEvent.Kind, round: Int? = nil) {
        let event = RunEvent(
            sequence: nextSequence, wallClock: clock.wallClock, elapsed: elapsed, kind: kind, round: round)
        nextSequence += 1
        for reporter in reporters { reporter.report(event) }
        if wantsTicks { scheduleTick(at: event.elapsed + Self.tickInterval) }
    }

    /// Lets reporters act on passing time, from now on. If none of them cares, no timer is ever set.
    func startTicking() {
        tick()
        wantsTicks = scheduledTick != nil
        if wantsTicks { viewers = reporters.filter(\.showsUnfinishedLines) }
    }

    /// Shows the line that was begun and has not ended, which is no event. Costs a comparison where none is shown.
    func show(unfinished line: @autoclosure () -> [UInt8], of writer: @autoclosure () -> StepOutput.Writer) {
        guard !viewers.isEmpty else { return }
        let line = line()
        guard !line.isEmpty else { return }
        for viewer in viewers { viewer.show(unfinished: line, of: writer()) }
        scheduleTick(at: elapsed + Self.tickInterval)
    }

    private func tick() {
        scheduledTick = nil
        var next: Duration?
        for reporter in reporters {
            if let time = reporter.tick(at: elapsed) { next = min(next ?? time, time) }
        }
        if let next { scheduleTick(at: next) }
    }

    /// A later tick that is already scheduled stays: an early or superfluous one does no harm.
    private func scheduleTick(at time: Duration) {
        guard time < scheduledTick ?? .seconds(Int64.max) else { return }
        scheduledTick = time
        let due = max(start.advanced(by: time), clock.now.advanced(by: .milliseconds(1)))
        _ = clock.schedule(at: due) { self.tick() }
    }
}

extension OperationScheduler.Wait {
    /// Returns one hop of a run that cannot go on, as a clause such as "a needs b", given names for rows and locks.
    func words(id: (OperationID) -> String, lock: (LockID) -> String) -> String {
        let waiter = id(waiter)
        return switch reason {
        case .need(let need): "\(waiter) needs \(id(need))"
        case .lock(let name, let holder?): "\(waiter) waits for the lock \(lock(name)), which \(id(holder)) holds"
        case .lock(let name, nil): "\(waiter) waits for the lock \(lock(name)), which nothing holds"
        case .limit(let group): "\(waiter) waits for the limit of \(id(group))"
        case .start(let group): "\(waiter) waits for \(id(group)) to start"
        case .member(let member): "\(waiter) waits for its member \(id(member))"
        case .nothing: "\(waiter) waits for nothing"
        }
    }
}
