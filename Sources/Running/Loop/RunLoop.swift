internal import Processes
internal import Scheduling

/// The part of a run that decides what its loop only passes on.
@EventLoopActor
protocol RunLoopDelegate: AnyObject {
    func carryOut(_ command: OperationScheduler.Command)
    /// Called once all commands of one event are carried out.
    func eventIsHandled()
    /// Called once no event is left, and by `checkEnd`.
    func eventsAreHandled()
    /// Handles a signal that flowrun has received, or that a step with the terminal has received in its place.
    func interrupt(by signal: Int32)
}

/// The loop of a run: hands events to the scheduler, one after the other, and its commands to the delegate; keeps the
/// time that measures all limits, which stands still while the run is frozen.
///
/// An event that is sent while another one is handled waits in a queue, so that the scheduler is never entered twice.
@EventLoopActor
final class RunLoop {
    let clock: any RunClock
    private var scheduler: OperationScheduler
    // Outlives the run. nil before its start and after its end.
    private unowned(safe) var delegate: (any RunLoopDelegate)?
    private var hasEnded = false
    /// Events that are still to be handled, oldest first.
    private var events: [OperationScheduler.Event] = []
    private var isHandlingEvents = false
    /// The start of the run, and the time since, without that in which it was frozen.
    private var began: EventLoopClock.Instant
    private var time = PausableTime()
    /// The time at which the scheduler wants to check its deadlines.
    private var wakeTime: Duration?
    private var timer: (token: Timers.Token, due: EventLoopClock.Instant)?

    init(_ scheduler: OperationScheduler, clock: any RunClock) {
        self.scheduler = scheduler
        self.clock = clock
        began = clock.now
    }

    /// Begins the run with `events`, which precede those sent so far.
    func begin(for delegate: any RunLoopDelegate, with events: [OperationScheduler.Event]) {
        clock.refresh()
        began = clock.now
        self.delegate = delegate
        self.events.insert(contentsOf: events, at: 0)
        handleEvents()
    }

    /// Ends the run: events are ignored from here on.
    func end() {
        hasEnded = true
        delegate = nil
        if let timer = timer.take() { clock.cancel(timer.token) }
    }

    func outcome(of id: OperationID) -> OperationOutcome? { scheduler.outcome(of: id) }

    var lacksSlot: Bool { scheduler.lacksSlot }
    var running: Int { scheduler.running }

    /// Hands an event to the scheduler: at once, or after the one being handled; before the start, at the start.
    func send(_ event: OperationScheduler.Event) {
        guard !hasEnded else { return }
        events.append(event)
        handleEvents()
    }

    private func handleEvents() {
        guard !isHandlingEvents, let delegate else { return }
        isHandlingEvents = true
        var next = 0
        // The list grows meanwhile.
        while next < events.count {
            let event = events[next]
            next += 1
            for command in scheduler.handle(event, at: runTime) { delegate.carryOut(command) }
            delegate.eventIsHandled()
        }
        events.removeAll(keepingCapacity: true)
        isHandlingEvents = false
        delegate.eventsAreHandled()
    }

    /// Lets the delegate check if the run is over, for what ends without an event.
    func checkEnd() { if !isHandlingEvents { delegate?.eventsAreHandled() } }

    func interrupt(by signal: Int32) { delegate?.interrupt(by: signal) }

    // MARK: Time

    private var runTime: Duration { began.duration(to: time.reading(at: clock.now)) }

    /// Wakes the scheduler to check its deadlines at a time of the run; replaces an earlier request.
    func wakeUp(at runTime: Duration) {
        wakeTime = runTime
        setTimer()
    }

    /// Sets the one timer: if the time was postponed, it fires too early and is set again.
    private func setTimer() {
        guard let wakeTime, let due = time.time(of: began.advanced(by: wakeTime)) else { return }
        if let timer {
            guard due < timer.due else { return }
            clock.cancel(timer.token)
        }
        timer = (clock.schedule(at: due) { [weak self] in self?.timerHasRung() }, due)
    }

    private func timerHasRung() {
        timer = nil
        guard let wakeTime, !time.isPaused else { return }
        guard runTime >= wakeTime else { return setTimer() }
        self.wakeTime = nil
        send(.time)
    }

    /// Stops all time limits until `thaw`.
    func freeze() { time.pause(at: clock.now) }

    func thaw() {
        time.resume(at: clock.now)
        setTimer()
    }
}
