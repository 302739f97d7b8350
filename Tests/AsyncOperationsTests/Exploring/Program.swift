import AsyncOperations

/// A program over the public API, as a value: it can be generated, printed, made smaller and run.
///
/// Operations have numbers in preorder: a compound operation stands before what is inside it. What waits for an operation
/// has a higher number than that, so that no program can lock itself in a way that only its author could know of.
struct Program: Sendable, Equatable {
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
        case compound(ConcurrencyMode, failsFast: Bool)
    }

    struct Operation: Sendable, Equatable {
        var kind = Kind.body
        /// What the body does, or each job of a waterfall.
        var steps: [Step] = []
        var parent: Int?
        var needs: [Need] = []
        /// What its completion does.
        var completion: [Action] = []
        /// How many of its attempts throw.
        var failures = 0
        var attempts = 1
        var heedsCancel = true
        var timeout: Int?
        var mutex: String?
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
    }

    /// A call of the API.
    enum Action: Sendable, Equatable {
        case add(Int, queue: Int)
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

    /// Whether a queue's clock has a say in an operation or anything inside.
    func takesTime(_ operation: Int) -> Bool {
        inside(operation).contains { operations[$0].timeout != nil || operations[$0].attempts > 1 }
    }

    /// Whether nobody could end an operation any more when its handle is dropped: it hangs, or a task that waits has it.
    func isKept(_ operation: Int) -> Bool {
        operations[operation].steps.contains(.hang)
            || actions.contains { if case .wait(operation, _) = $0 { true } else { false } }
    }

    /// Whether a task waits for a queue at some time, and so keeps it.
    func isQueueWaitedFor(_ queue: Int) -> Bool {
        actions.contains { action in
            switch action {
            case .waitUntilIdle(queue), .shutdown(queue, _): true
            default: false
            }
        }
    }

    func isListenedTo(_ queue: Int) -> Bool {
        actions.contains { if case .listen(queue) = $0 { true } else { false } }
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
