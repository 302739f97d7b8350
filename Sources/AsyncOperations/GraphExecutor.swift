/// Many operations run as one: it carries out what an `OperationScheduler` decides, with one child task for each
/// *running* operation and one sleeper for all deadlines.
///
/// It ends when its last operation has ended, never before, also when it is cancelled. Cancellation goes down to the
/// running operations, outcomes come up; nothing finishes twice.
public final class GraphExecutor<C: Clock>: Sendable where C.Duration == Duration, C.Instant: Sendable {
    /// The work of one operation. Returns `success`, `failure` or `skipped`; it learns through its context that it is
    /// to stop, and decides itself how fast it can.
    public typealias Work = @Sendable (OperationContext) async -> OperationOutcome

    private let graph: OperationGraph
    private let width: Int
    private let clock: C
    private let work: Work
    private let mailbox = Mailbox<OperationScheduler.Event>()

    /// `width` is how many operations may run at once, at least 1. Deadlines are measured on `clock`.
    public init(_ graph: OperationGraph, width: Int, clock: C, work: @escaping Work) {
        self.graph = graph
        self.width = width
        self.clock = clock
        self.work = work
    }

    /// Asks an operation, a group or everything to stop. From any thread, also before `run`; never waits; does nothing
    /// to what has ended.
    public func cancel(_ id: OperationID = .root) {
        mailbox.post(.cancel(id))
    }

    /// How many operations may run at once from now on, at least 1; lowering it stops nothing.
    public func setWidth(_ width: Int) {
        mailbox.post(.width(width))
    }

    /// Runs everything once and returns the outcome of the outermost group.
    ///
    /// `observe` hears of every command, in order, before it is carried out and on the caller's executor. Cancelling the
    /// calling task cancels all operations; the call still returns only after the last one has ended.
    @discardableResult
    public func run(_ observe: (OperationScheduler.Command) -> Void = { _ in }) async -> OperationOutcome {
        let start = clock.now
        var scheduler = OperationScheduler(graph, width: width)
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                let alarm = Alarm(clock: clock)
                group.addTask { [mailbox] in await alarm.run { mailbox.post(.time) } }
                var contexts: [Int: OperationContext] = [:]
                var events: [OperationScheduler.Event] = [.begin]
                while !events.isEmpty {
                    for command in events.flatMap({ scheduler.handle($0, at: start.duration(to: clock.now)) }) {
                        observe(command)
                        switch command {
                        case .start(let id): contexts[id.row] = begin(id, in: &group)
                        case .stop(let id, let cause): contexts[id.row]?.stop(cause)
                        case .finished(let id, _, _): contexts[id.row] = nil
                        case .wake(let time): alarm.set(start.advanced(by: time))
                        case .groupStarted, .groupStopping: break
                        }
                    }
                    events = scheduler.isFinished ? [] : await mailbox.receive()
                }
                alarm.close()
            }
        } onCancel: {
            cancel()
        }
        return scheduler.outcome(of: .root) ?? .cancelled
    }

    private func begin(_ id: OperationID, in group: inout DiscardingTaskGroup) -> OperationContext {
        let context = OperationContext(id: id) { [mailbox] in mailbox.post(.lingering(id)) }
        group.addTask { [work, mailbox] in
            mailbox.post(.ended(id, await work(context)))
        }
        return context
    }
}
