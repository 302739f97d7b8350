internal import Synchronization

// Carries the decisions of the scheduler over to the operations. Runs in the task of a `QueueRun`, one command after the
// other, before the executor carries it out.

extension QueueCore {
    func carryOut(_ command: OperationScheduler.Command, in run: QueueRun) {
        switch command {
        case .ready(let row):
            guard let core = run.table.operation(row) else { return }
            core.note(.ready)
            announcer.announce(.ready, of: core.id)
        case .start(let row, let attempt):
            // A request may have come since the scheduler decided; then the body is not entered.
            guard let core = run.table.operation(row), core.note(.executing) else { return }
            announcer.announce(.started(attempt: attempt), of: core.id)
        case .groupStarted(let row, _):
            guard let core = run.table.operation(row) else { return }
            core.note(.executing)
            announcer.announce(.started(attempt: 1), of: core.id)
            closeIfEmpty(core, row, run)
        case .stop(let row, let cause), .groupStopping(let row, let cause):
            guard let core = run.table.operation(row) else { return }
            announcer.announce(.cancelRequested(core.stop(reason(of: cause, for: core, in: run))), of: core.id)
        case .retrying(let row, _, let delay):
            guard let core = run.table.operation(row) else { return }
            core.noteRetry()
            announcer.announce(.retry(after: delay), of: core.id)
        case .finished(let row, let outcome, let cause):
            guard let core = run.table.operation(row) else { return }
            finish(core, row, outcome, cause, in: run)
        case .suspended, .resumed:
            if !run.table.isRetired { announcePause(command == .suspended, in: run) }
        case .wake, .decide, .expand, .conclude, .withdraw, .stalled, .acquired, .released, .waiting:
            break
        }
    }

    private func finish(
        _ core: OperationCore, _ row: OperationID, _ outcome: OperationOutcome, _ cause: OperationCause,
        in run: QueueRun
    ) {
        let end = end(of: core, outcome, cause, in: run)
        let parent = core.parent
        if let parent {
            let report = ChildReport(core, end)
            parent.state.withLock { $0.members?.reports.append(report) }
        }
        run.table.note(end, of: row, as: core.id)
        announcer.announce(.finished(outcome), of: core.id)
        core.finish(end)
        if let parent {
            let parentRow = state.withLock { _ in
                parent.state.withLock { state -> OperationID? in
                    state.members?.unfinished -= 1
                    return state.place?.row
                }
            }
            if let parentRow { closeIfEmpty(parent, parentRow, run) }
        } else {
            countDown()
        }
    }

    /// A compound operation that has started and whose last member has ended takes no more.
    private func closeIfEmpty(_ core: OperationCore, _ row: OperationID, _ run: QueueRun) {
        state.withLock { _ in
            let isComplete = core.state.withLock { state in
                guard state.progress == .executing, state.members?.unfinished == 0 else { return false }
                defer { state.members?.isClosed = true }
                return state.members?.isClosed == false
            }
            if isComplete { run.control.close(row) }
        }
    }

    /// An operation of the queue itself has ended. After the last one, nothing is kept that a later one does not need.
    private func countDown() {
        let idle = state.withLock { state -> OneShot? in
            state.unfinished -= 1
            guard state.unfinished == 0 else { return nil }
            state.run?.table.retire()
            // Ends what is left: stand-ins that nobody waits for any more, and the outermost group.
            state.run?.control.cancel(.root)
            state.run = nil
            state.barrier = nil
            state.locks = [:]
            return state.idle.take()
        }
        idle?.happen()
    }

    private func end(
        of core: OperationCore, _ outcome: OperationOutcome, _ cause: OperationCause, in run: QueueRun
    ) -> OperationEnd {
        switch outcome {
        case .success: return .success
        case .failure: return .failure
        case .skipped: return .skipped
        case .timeout:
            if case .member(let member) = cause, let end = run.table.end(of: member) { return end }
            let limit =
                if case .retryDeadline = cause { core.options.retry?.deadline } else {
                    core.compound?.options.timeout ?? core.options.timeout
                }
            return .timeout(limit: limit ?? .zero, scope: core.id)
        case .cancelled:
            if case .member(let member) = cause, case .cancelled(let reason)? = run.table.end(of: member) {
                return .cancelled(reason)
            }
            return .cancelled(reason(of: cause, for: core, in: run))
        case .notRun:
            switch cause {
            case .dependency(let row), .failFast(let row):
                if case .notRun(let root)? = run.table.end(of: row) { return .notRun(rootCause: root) }
                return .notRun(rootCause: run.table.identity(of: row) ?? core.id)
            case .itself, .member, .deadline, .retryDeadline, .request, .stall, .condition:
                return .notRun(rootCause: core.id)
            }
        }
    }

    private func reason(of cause: OperationCause, for core: OperationCore, in run: QueueRun) -> CancellationReason {
        switch cause {
        case .failFast(let row): return .sibling(run.table.identity(of: row) ?? core.id)
        case .deadline(let row), .retryDeadline(let row):
            return .deadline(run.table.identity(of: row) ?? core.id)
        case .itself, .dependency, .member, .request, .stall, .condition:
            if let request = core.state.withLock({ $0.request }) { return request }
            let requested = sequence(first: core) { $0.parent }.first { $0.state.withLock { $0.request != nil } }
            return requested.map { .parent($0.id) } ?? .requested
        }
    }
}

extension QueueRun {
    /// Ends what stands for an operation that the scheduler does not know, so that it says of the dependency what the
    /// operation's own end says.
    func resolve(_ row: OperationID, _ need: OperationCore.Need, _ end: OperationEnd) {
        guard !table.isRetired else { return }
        if need.isMet(by: end) {
            control.close(row)
        } else if end.outcome == .failure || end.outcome == .timeout {
            table.failStandIn(row)
            control.close(row)
        } else {
            control.cancel(row)
        }
    }
}
