/// Begins `work` in a task of its own, apart from the priority and the task-local values of the caller. Every task of the
/// library begins here or in `launchInheriting`, so that tests can decide when it runs.
///
/// Inlined, and with the type that the standard library asks for, so that no closure is wrapped in another one.
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

/// The same with the priority and the task-local values of the caller.
@inline(__always) @discardableResult
func launchInheriting<Answer: Sendable>(
    _ work: sending @escaping @isolated(any) () async -> Answer
) -> Task<Answer, Never> {
    #if DEBUG || FLOWRUN_EXPLORE
        Task(executorPreference: Interleaving.probe?.executor, operation: work)
    #else
        Task(operation: work)
    #endif
}
