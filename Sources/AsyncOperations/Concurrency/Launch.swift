internal import Platform

/// Runs `work` in a task of its own, without the priority and the task-local values of the caller. Every task of the
/// library starts in one of the functions of this file, so tests can decide when it runs.
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

/// Runs `work`, which may run user code, on a thread of its own, where no task may wait for a thread of the pool. In a
/// task if the system has no thread to be had.
func launchThread(_ work: @escaping @Sendable () -> Void) {
    do throws(Platform.NoThreadError) { try Platform.startThread(work) } catch { launch { work() } }
}

/// The same as `launch` with the task-local values of the caller, and its priority if none is given.
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

/// The same as `launchInheriting`, but begins at once on the calling thread, where the system can. Only for a caller
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
