// What callers may ask of a queue at any time.

extension QueueCore {
    func setSuspended(_ isSuspended: Bool) {
        update { state in
            guard state.isSuspended != isSuspended else { return }
            state.isSuspended = isSuspended
            announce(isSuspended ? .suspended : .resumed, of: id, &state)
            if state.scheduler == nil {
                pause(isSuspended, &state)
            } else {
                handle(isSuspended ? .suspend : .resume, &state)
            }
        }
    }

    func setWidth(_ width: Int) {
        update { state in
            if width < state.width, BodyWait.anybodyWaits {
                for case .operation(let core) in state.entries { state.suspect(core) }
            }
            state.width = width
            handle(.width(width), &state)
        }
    }

    func close() { state.withLock { $0.isClosed = true } }

    /// Asks an operation to stop. Returns whether the request is accepted; nil if the operation does not belong to the
    /// queue, no longer or not yet.
    func cancel(_ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason) -> Bool? {
        update { cancel(core, reason, &$0) }
    }

    private func cancel(
        _ core: OperationCore, _ reason: AsyncOperationContext.CancellationReason, _ state: inout State
    ) -> Bool? {
        let (row, isAccepted) = core.state.withLock { operation -> (OperationID?, Bool?) in
            guard operation.lifecycle.queue === self, let row = operation.lifecycle.row else { return (nil, nil) }
            if case .settled = operation.lifecycle { return (nil, false) }
            if case .running(let control) = operation.lifecycle, control.reason != nil,
                control.isAlone || state.scheduler?.mayBeginAnew(row) != true
            {
                return (nil, false)
            }
            let isFirst = operation.withRare { rare in
                defer { rare.request = rare.request ?? reason }
                return rare.request == nil
            }
            return (isFirst ? row : nil, isFirst)
        }
        guard let row else { return isAccepted }
        if row.isAlone { cancelAlone(core, reason, &state) } else { handle(.cancel(row), &state) }
        return isAccepted
    }

    /// Ends an operation that waits for itself on `path`. Returns false if it has gone on meanwhile. With the topology
    /// locked.
    func end(_ core: OperationCore, asStuckIn path: [AsyncOperationID]) -> (Bool, Consequences) {
        decide { state in
            guard let row = waitingRow(of: core), state.scheduler?.isReady(row) == true else { return false }
            return cancel(core, .stuck(path), &state) == true
        }
    }

    /// Asks everything in the queue to stop.
    func cancelAll(_ reason: AsyncOperationContext.CancellationReason) { update { _ = cancelAll(reason, &$0) } }

    /// The same within a change. Returns what accepted the request.
    @discardableResult
    func cancelAll(_ reason: AsyncOperationContext.CancellationReason, _ state: inout State) -> [OperationCore] {
        operations(state).filter { cancel($0, reason, &state) == true }
    }

    /// Happens when the queue becomes idle; nil if it is idle.
    func idleSignal() -> OneShot? {
        state.withLock { state in
            guard state.unfinished > 0 else { return nil }
            let idle = state.idle ?? OneShot()
            state.idle = idle
            return idle
        }
    }
}
