import AsyncOperations

/// A program over the public API, as a value: it can be generated, printed, made smaller and run.
///
/// Operations have numbers in preorder: a compound operation stands before what is inside it. Bodies may wait for
/// whatever they like, and are told where they would wait for themselves.
struct Program: Sendable, Equatable {
    /// The units of its pools, which all of its queues share.
    static let pools = [2, 1]

    struct Queue: Sendable, Equatable {
        var width = 2
        var isSuspended = false
    }

    struct Need: Sendable, Equatable {
        var on: Int
        var kind: DependencyKind
    }

    enum Kind: Sendable, Equatable {
        case body
        case waterfall
        case compound(CompoundOperation.ConcurrencyMode, failsFast: Bool)
    }

    struct Operation: Sendable, Equatable {
        var kind = Kind.body
        /// What the body does, or each job of a waterfall.
        var steps: [Step] = []
        var parent: Int?
        var needs: [Need] = []
        /// The operation whose value its body gets.
        var input: Int?
        /// What its completion does.
        var completion: [Action] = []
        /// How many of its attempts throw, those in earlier rounds of what is around it included.
        var failures = 0
        /// Of a compound operation: rounds.
        var attempts = 1
        /// What the jobs of a waterfall are given.
        var jobAttempts = 1
        var jobTimeout: Int?
        var heedsCancel = true
        var timeout: Int?
        var mutex: String?
        /// What it has of which of the program's pools.
        var units: [Int: Int] = [:]
        var priority: UInt32 = 0
        var toleratesFailure = false

        var isCompound: Bool { if case .compound = kind { true } else { false } }
    }

    /// A step of a body.
    enum Step: Sendable, Equatable {
        case yield
        case waitWhileSuspended
        case sleep(Int)
        /// Waits until it is told to stop.
        case hang
        case produce(Int)
        case act(Action)
        /// Waits for the result.
        case await(Int)
        /// Waits for the value, unless told to stop.
        case awaitValue(Int)
        case awaitIdle(Int)
        /// Runs something in a queue and waits for it.
        case run(Int)
        /// Sleeps within a limit.
        case sleepLimited(Int)
        case report(Int)

        var awaited: Int? {
            switch self {
            case .await(let other), .awaitValue(let other): other
            default: nil
            }
        }
    }

    /// A call of the API.
    enum Action: Sendable, Equatable {
        case add(Int, queue: Int)
        /// Adds operations in one call.
        case addTogether([Int], queue: Int)
        case addBarrier(Int, queue: Int)
        case addMember(Int, to: Int)
        case start(Int)
        case addDependency(Int, on: Int, DependencyKind)
        case removeDependency(Int, on: Int)
        case suspend(Int)
        case resume(Int)
        case cancel(Int)
        case drop(Int)
        /// A task waits for the result; `isCancelled` for the value, and is cancelled.
        case wait(Int, isCancelled: Bool)
        case suspendQueue(Int)
        case resumeQueue(Int)
        case cancelAll(Int)
        case setWidth(Int, Int)
        case waitUntilIdle(Int)
        case listen(Int)
        case shutdown(Int, grace: Int?)
        case dropQueue(Int)
        /// A task runs something in a queue.
        case run(Int)
        /// A task hears of the progress.
        case watch(Int)
        case watchQueue(Int)
        /// A tracker watches two operations; their ends end its tasks.
        case track(Int, Int, timeout: Int?)
    }

    var queues: [Queue] = []
    var operations: [Operation] = []
    /// What so many tasks do at once.
    var clients: [[Action]] = []

    func members(of compound: Int) -> [Int] { operations.indices.filter { operations[$0].parent == compound } }

    /// What is around an operation by the program's text, from inside out.
    func around(_ operation: Int) -> [Int] {
        Array(
            sequence(state: operations[operation].parent) { next in
                defer { next = next.flatMap { operations[$0].parent } }
                return next
            })
    }
}

extension Program {
    /// Everything inside an operation, and itself.
    func inside(_ operation: Int) -> [Int] {
        operations.indices.filter { $0 == operation || around($0).contains(operation) }
    }

    /// Whether nobody could end an operation any more when its handle is dropped: it hangs, or what waits for it has
    /// it.
    func isKept(_ operation: Int) -> Bool {
        operations[operation].steps.contains(.hang)
            || operations.contains { other in
                other.input == operation || other.steps.contains { $0.awaited == operation }
            }
            || actions.contains {
                switch $0 {
                case .wait(operation, _), .watch(operation): true
                default: false
                }
            }
    }

    /// Whether nothing in it stops anything or takes a need away, so that what cannot end before something else does
    /// not.
    var isCalm: Bool {
        operations.allSatisfy { operation in
            let failsFast = if case .compound(_, true) = operation.kind { true } else { false }
            return !failsFast && operation.timeout == nil && operation.jobTimeout == nil
                && !operation.steps.contains(.hang)
        } && actions.allSatisfy(\.isCalm)
    }

    /// Whether nothing ever gives it to a queue or a compound operation.
    func isOnlyStarted(_ operation: Int) -> Bool {
        operations[operation].parent == nil && !operations.contains { $0.steps.contains(.produce(operation)) }
            && !actions.contains { action in
                switch action {
                case .add(operation, _), .addBarrier(operation, _), .addMember(operation, _): true
                case .addTogether(let operations, _): operations.contains(operation)
                default: false
                }
            }
    }

    /// Whether a task waits for a queue at some time, and so keeps it.
    func isQueueWaitedFor(_ queue: Int) -> Bool {
        operations.contains { operation in
            operation.steps.contains { $0 == .awaitIdle(queue) || $0 == .run(queue) }
        }
            || actions.contains { action in
                switch action {
                case .waitUntilIdle(queue), .shutdown(queue, _), .run(queue): true
                default: false
                }
            }
    }

    func isListenedTo(_ queue: Int) -> Bool {
        actions.contains { action in
            switch action {
            case .listen(queue), .watchQueue(queue): true
            default: false
            }
        }
    }

    /// Everything that the program does, wherever.
    var actions: [Action] {
        clients.flatMap { $0 }
            + operations.flatMap { operation in
                operation.completion
                    + operation.steps.compactMap { if case .act(let action) = $0 { action } else { nil } }
            }
    }
}

extension Program.Action {
    /// Whether it stops nothing and takes nothing away.
    var isCalm: Bool {
        switch self {
        case .removeDependency, .cancel, .drop, .cancelAll, .setWidth, .shutdown, .dropQueue: false
        case .add, .addTogether, .addBarrier, .addMember, .start, .addDependency, .suspend, .resume, .wait,
            .suspendQueue, .resumeQueue, .waitUntilIdle, .listen, .run, .watch, .watchQueue, .track:
            true
        }
    }
}
