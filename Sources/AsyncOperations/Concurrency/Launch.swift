/// Runs `work` in a task of its own, without the priority and the task-local values of the caller. Every task of the
/// library starts here or in `launchInheriting`, so tests can decide when it runs.
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

/// The same with the task-local values of the caller, and its priority if none is given.
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
