internal import Processes
internal import RunLog

/// Numbers the events of one run, stamps them and hands them to every reporter: the one place where events are made.
@EventLoopActor
final class EventRecorder {
    private let reporters: [any Reporter]
    /// Whether the log can take what steps write; while it says no, they are left to wait.
    let mayTakeOutput: @EventLoopActor () -> Bool
    private let clock: any RunClock
    private let start: EventLoopClock.Instant
    private var nextSequence = 0
    private var wantsTicks = false
    private var scheduledTick: Duration?

    /// How long what an event changes may wait to be shown.
    private static let tickInterval = Duration.milliseconds(100)

    init(_ reporters: [any Reporter], clock: any RunClock, mayTakeOutput: @escaping @EventLoopActor () -> Bool) {
        self.reporters = reporters
        self.clock = clock
        self.mayTakeOutput = mayTakeOutput
        start = clock.now
    }

    /// Since the run started.
    var elapsed: Duration { start.duration(to: clock.now) }

    func record(_ kind: RunEvent.Kind, round: Int? = nil) {
        let event = RunEvent(
            sequence: nextSequence, wallClock: clock.wallClock, elapsed: elapsed, kind: kind, round: round)
        nextSequence += 1
        for reporter in reporters { reporter.report(event) }
        if wantsTicks { scheduleTick(at: event.elapsed + Self.tickInterval) }
    }

    /// Lets reporters act on time that passes, from now on. Where none of them cares, no timer is ever set.
    func startTicking() {
        tick()
        wantsTicks = scheduledTick != nil
    }

    private func tick() {
        scheduledTick = nil
        var next: Duration?
        for reporter in reporters {
            if let time = reporter.tick(at: elapsed) { next = min(next ?? time, time) }
        }
        if let next { scheduleTick(at: next) }
    }

    /// A tick that is scheduled for later stays so: an early or superfluous one does no harm.
    private func scheduleTick(at time: Duration) {
        guard time < scheduledTick ?? .seconds(Int64.max) else { return }
        scheduledTick = time
        let due = max(start.advanced(by: time), clock.now.advanced(by: .milliseconds(1)))
        _ = clock.schedule(at: due) { self.tick() }
    }
}
