internal import Platform
internal import Synchronization

/// Runs `work` in a new task, without the priority and the task-local values of the caller. Every task of the library
/// starts in one of the functions of this file, so tests can decide when it runs.
///
/// Inlined, and with the closure type of the standard library, so that no closure is wrapped in another.
@inline(__always) @discardableResult
func launch<Answer: Sendable>(
    priority: Priority? = nil, _ work: sending @escaping @isolated(any) () async -> Answer
) -> Task<Answer, Never> {
    #if DEBUG || FLOWRUN_EXPLORE
        Task.detached(
            executorPreference: Interleaving.probe?.executor, priority: priority?.ofTask, operation: work)
    #else
        Task.detached(priority: priority?.ofTask, operation: work)
    #endif
}

/// Runs `work`, which may run user code, on a new thread, for callers where no task may wait for a thread of the
/// pool. Uses a task if the system has no thread available.
func launchThread(_ work: @escaping @Sendable () -> Void) {
    do throws(Platform.NoThreadError) { try Platform.startThread(work) } catch { launch { work() } }
}

/// Like `launch`, with the task-local values of the caller, and its priority if none is given.
@inline(__always) @discardableResult
func launchInheriting<Answer: Sendable>(
    priority: Priority? = nil, _ work: sending @escaping @isolated(any) () async -> Answer
) -> Task<Answer, Never> {
    #if DEBUG || FLOWRUN_EXPLORE
        Task(executorPreference: Interleaving.probe?.executor, priority: priority?.ofTask, operation: work)
    #else
        Task(priority: priority?.ofTask, operation: work)
    #endif
}

/// Like `launchInheriting`, but begins at once on the calling thread where the system supports it. Only for a caller
/// that is about to wait.
@inline(__always)
func launchHere(priority: Priority?, _ work: sending @escaping @isolated(any) () async -> Void) {
    #if DEBUG || FLOWRUN_EXPLORE
        if Interleaving.probe != nil {
            // Tests decide when it runs.
            launchInheriting(priority: priority, work)
            return
        }
    #endif
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        Task.immediate(priority: priority?.ofTask, operation: work)
    } else {
        launchInheriting(priority: priority, work)
    }
}

/// The priority of a task. `TaskPriority` is opaque to other modules, so each copy of an optional one costs a call.
struct Priority: Sendable, Comparable {
    /// True once a priority below medium has been seen. Until then, a wait of medium priority raises nothing.
    private static let isAnyLow = Atomic(false)

    private let rawValue: UInt8

    init(_ priority: TaskPriority) {
        rawValue = priority.rawValue
        if self < .medium { Self.isAnyLow.store(true, ordering: .relaxed) }
    }

    /// False if no body can have a lower priority.
    var mayRaise: Bool { self > .medium || Self.isAnyLow.load(ordering: .relaxed) }

    static let medium = Priority(rawValue: TaskPriority.medium.rawValue)
    static var current: Priority { Priority(Task.currentPriority) }

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The higher of the priorities that are not nil; nil if both are.
    static func higher(_ one: Priority?, _ other: Priority?) -> Priority? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    var ofTask: TaskPriority { TaskPriority(rawValue: rawValue) }

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}
