internal import Glibc
internal import ProcessExecution
internal import RunEvents

/// Numbers the events of one run, stamps them and hands them to every reporter: the one place where events are made.
@EventLoopActor
final class EventRecorder {
    private let reporters: [any Reporter]
    private let clock = EventLoopClock()
    private let start: EventLoopClock.Instant
    private var nextSequence = 0

    init(_ reporters: [any Reporter]) {
        self.reporters = reporters
        start = clock.now
    }

    /// Since the run started.
    var elapsed: Duration { start.duration(to: clock.now) }

    func record(_ kind: RunEvent.Kind) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let event = RunEvent(
            sequence: nextSequence, wallClock: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000,
            elapsed: elapsed, kind: kind)
        nextSequence += 1
        for reporter in reporters { reporter.report(event) }
    }

    /// Lets reporters act on time that passes without events, until `isOver`.
    func tick(until isOver: @escaping @EventLoopActor () -> Bool) {
        guard !isOver(), let next = reporters.compactMap({ $0.tick(at: elapsed) }).min() else { return }
        Poller.shared.after(max(next - elapsed, .milliseconds(1))) { self.tick(until: isOver) }
    }
}
