internal import Scheduling

extension OperationScheduler.Wait {
    /// One hop of a run that cannot go on, as a clause such as "a needs b", given names for rows and locks.
    func words(id: (OperationID) -> String, lock: (LockID) -> String) -> String {
        let waiter = id(waiter)
        return switch reason {
        case .need(let need): "\(waiter) needs \(id(need))"
        case .lock(let name, let holder?): "\(waiter) waits for the lock \(lock(name)), which \(id(holder)) holds"
        case .lock(let name, nil): "\(waiter) waits for the lock \(lock(name)), which nothing holds"
        case .limit(let group): "\(waiter) waits for the limit of \(id(group))"
        case .start(let group): "\(waiter) waits for \(id(group)) to start"
        case .member(let member): "\(waiter) waits for its member \(id(member))"
        case .nothing: "\(waiter) waits for nothing"
        }
    }
}
