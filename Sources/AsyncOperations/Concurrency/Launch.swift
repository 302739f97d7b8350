/// Begins `work` in a task of its own, apart from the priority and the task-local values of the caller. Every task of the
/// library begins here or in `launchInheriting`, so that tests can decide when it runs.
@discardableResult
func launch(
    priority: TaskPriority? = nil, _ work: @escaping @Sendable () async -> Void
) -> Task<Void, Never> {
    Task.detached(executorPreference: preferredExecutor, priority: priority, operation: work)
}

/// The same with the priority and the task-local values of the caller.
@discardableResult
func launchInheriting(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: preferredExecutor, operation: work)
}

private var preferredExecutor: (any TaskExecutor)? {
    #if DEBUG || FLOWRUN_EXPLORE
        Interleaving.probe?.executor
    #else
        nil
    #endif
}
