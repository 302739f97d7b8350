/// Many operations run as one: it carries out what an `OperationScheduler` decides, with one child task for each
/// *running* operation and one sleeper for all deadlines.
///
/// It ends when its last operation has ended, never before, also when it is cancelled. Cancellation goes down to the
/// running operations, outcomes come up; nothing finishes twice.
package final class GraphExecutor<C: Clock>: Sendable where C.Duration == Duration, C.Instant: Sendable {
    /// One attempt of an operation, counted from 1.
    package struct Attempt: Sendable {
        package let id: OperationID
        package let number: Int
    }

    /// The work of an attempt. Returns `success`, `failure` or `skipped`, and whether a failure is of a kind that is worth
    /// another attempt. Whoever observes the commands of `run` tells it that it is to stop, and it decides itself how fast
    /// it can.
    package typealias Work = @Sendable (Attempt) async -> (outcome: OperationOutcome, mayRetry: Bool)

    /// What only somebody else can answer while the graph runs. Asked in the isolation of `run`, answered on the spot.
    package struct Questions {
        /// Whether something conditional is to run.
        package var decide: (OperationID) -> OperationScheduler.Decision
        /// The members of a group that expands; nil where they cannot be told, which is a failure of the group.
        package var expand: (OperationID) -> OperationGraph?
        /// The outcome of a group that concludes, given what its members make of it, and whether a failure is worth
        /// another round.
        package var conclude: (OperationID, OperationOutcome) -> (outcome: OperationOutcome, mayRetry: Bool)

        /// Everything runs, nothing expands, and groups end as their members say, unless told otherwise.
        package init(
            decide: @escaping (OperationID) -> OperationScheduler.Decision = { _ in .run },
            expand: @escaping (OperationID) -> OperationGraph? = { _ in nil },
            conclude: @escaping (OperationID, OperationOutcome) -> (outcome: OperationOutcome, mayRetry: Bool) = {
                ($1, true)
            }
        ) {
            self.decide = decide
            self.expand = expand
            self.conclude = conclude
        }
    }

    private let graph: OperationGraph
    private let width: Int
    private let clock: C
    private let tellsLocks: Bool
    private let work: Work
    private let mailbox = Mailbox<OperationScheduler.Event>()

    /// `width` is how many operations may run at once, at least 1. Deadlines are measured on `clock`. `tellsLocks` adds
    /// the commands that say what takes, frees and waits for locks.
    package init(
        _ graph: OperationGraph, width: Int, clock: C, tellsLocks: Bool = false, work: @escaping Work
    ) {
        self.graph = graph
        self.width = width
        self.clock = clock
        self.tellsLocks = tellsLocks
        self.work = work
    }

    /// Asks an operation, a group or everything but hooks to stop. From any thread, also before `run`; never waits;
    /// does nothing to what has ended. So do all that follow.
    package func cancel(_ id: OperationID = .root) { mailbox.post(.cancel(id)) }

    /// Asks everything to stop, hooks included.
    package func abort() { mailbox.post(.abort) }

    /// How many operations may run at once from now on, at least 1; lowering it stops nothing.
    package func setWidth(_ width: Int) { mailbox.post(.width(width)) }

    /// Nothing starts any more until `resume`; what runs goes on. Before `run`: nothing starts at all.
    package func suspend() { mailbox.post(.suspend) }

    /// Ends a suspension.
    package func resume() { mailbox.post(.resume) }

    /// Adds members to a group that is open or running. Expansions have to come in the order of their rows.
    package func add(_ expansion: OperationGraph, to group: OperationID) {
        mailbox.post(.added(group, expansion))
    }

    /// Says that an open group takes no more members.
    package func close(_ group: OperationID) { mailbox.post(.close(group)) }

    /// Removes a dependency of something that has not started.
    package func unlink(dependent: OperationID, prerequisite: OperationID) {
        mailbox.post(.unlink(dependent: dependent, prerequisite: prerequisite))
    }

    /// Runs everything once and returns the outcome of the outermost group.
    ///
    /// `observe` hears of every command, in order, before it is carried out and on the caller's executor. Cancelling the
    /// calling task cancels all operations; the call still returns only after the last one has ended.
    @discardableResult
    package func run(
        questions: Questions = Questions(), _ observe: (OperationScheduler.Command) -> Void = { _ in }
    ) async -> OperationOutcome {
        let start = clock.now
        var scheduler = OperationScheduler(graph, width: width, seed: .random(in: .min ... .max))
        scheduler.tellsLocks = tellsLocks
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                let alarm = Alarm(clock: clock)
                group.addTask { [mailbox] in await alarm.run { mailbox.post(.time) } }
                var events = beginning(with: mailbox.takeAll())
                while !events.isEmpty {
                    // Answers lengthen the list: in the order of the questions, also where one answer leads to another
                    // question, and before what is posted meanwhile.
                    var (next, answersEnd) = (0, 0)
                    while next < events.count {
                        let event = events[next]
                        next += 1
                        answersEnd = max(answersEnd, next)
                        var answers: [OperationScheduler.Event] = []
                        for command in scheduler.handle(event, at: start.duration(to: clock.now)) {
                            observe(command)
                            switch command {
                            case .start(let id, let number): begin(Attempt(id: id, number: number), in: &group)
                            case .wake(let time): alarm.set(start.advanced(by: time))
                            case .decide(let id): answers.append(.decided(id, questions.decide(id)))
                            case .expand(let id): answers.append(expansion(of: id, questions))
                            case .conclude(let id, let outcome):
                                let (outcome, mayRetry) = questions.conclude(id, outcome)
                                answers.append(.ended(id, outcome, mayRetry: mayRetry))
                            case .stop, .groupStarted, .groupStopping, .withdraw, .retrying, .finished, .suspended,
                                .resumed, .stalled, .acquired, .released, .waiting, .ready:
                                break
                            }
                        }
                        if !answers.isEmpty { events.insert(contentsOf: answers, at: answersEnd) }
                        answersEnd += answers.count
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

    /// What was asked for before the start: a width holds from the beginning, and so does a suspension, until it is
    /// ended in its turn.
    private func beginning(with early: [OperationScheduler.Event]) -> [OperationScheduler.Event] {
        var first: [OperationScheduler.Event] = []
        var rest: [OperationScheduler.Event] = []
        for event in early {
            switch event {
            case .width:
                first.append(event)
            case .suspend:
                first.append(event)
                rest.append(event)
            default:
                rest.append(event)
            }
        }
        return first + [.begin] + rest
    }

    private func expansion(of id: OperationID, _ questions: Questions) -> OperationScheduler.Event {
        questions.expand(id).map { .expanded(id, $0) } ?? .ended(id, .failure, mayRetry: false)
    }

    private func begin(_ attempt: Attempt, in group: inout DiscardingTaskGroup) {
        group.addTask { [work, mailbox] in
            let (outcome, mayRetry) = await work(attempt)
            mailbox.post(.ended(attempt.id, outcome, mayRetry: mayRetry))
        }
    }
}
