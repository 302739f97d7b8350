// A wait raises everything upstream: over dependencies, members, places, mutexes, pools and the waits of bodies.

extension OperationCore {
    /// Raises the bodies for which its end waits, now or later, to `priority`. O(upstream operations not yet raised
    /// to that priority), and O(1) if no priority can be lower.
    func raiseUpstream(to priority: Priority) {
        guard priority.mayRaise else { return }
        let controls = Self.withTopology {
            var graph = WaitGraph(for: .wait)
            graph.collect([.end(self)]) { event in
                if case .end(let core) = event, core !== self { !core.noteRaise(to: priority) } else { false }
            }
            return graph.events.flatMap { event -> [BodyControl] in
                switch event {
                case .start(let core), .end(let core): core.expectWaiter(of: priority).map { [$0] } ?? []
                case .turn(let queue): queue.hurry(for: self, priority)
                case .place, .units, .idle: []
                }
            }
        }
        // Escalation handlers are user code.
        for control in controls { control.raise(to: priority) }
    }

    /// Raises everything upstream to its own priority, if that is above medium, and to that of the tasks that wait
    /// for it.
    func raiseUpstream() {
        let waiter = state.withLock { $0.rare?.waiterPriority }
        let own = ownPriority.flatMap { $0 > .medium ? $0 : nil }
        if let priority = Priority.higher(waiter, own) { raiseUpstream(to: priority) }
    }

    private func noteRaise(to priority: Priority) -> Bool {
        state.withLock { state in
            // An operation that has ended waits for nothing.
            state.lifecycle.end == nil && state.withRare { $0.noteRaise(to: priority) }
        }
    }

    private var ownPriority: Priority? { hasDefaultOptions ? nil : options.bodyPriority }

    /// Makes its body begin with at least `priority`. Returns the running attempt.
    private func expectWaiter(of priority: Priority) -> BodyControl? {
        let own = ownPriority
        return state.withLock { state in
            switch state.lifecycle {
            case .ended: return nil
            case .running(let control): return control
            case .idle, .dissolving, .member, .taken, .waiting, .open, .settled: break
            }
            guard priority > state.rare?.waiterPriority ?? own ?? state.lifecycle.queue?.priority ?? .medium else {
                return nil
            }
            state.withRare { $0.waiterPriority = priority }
            return nil
        }
    }
}

extension QueueCore {
    /// Gives `priority` to operations that begin before `core`. Returns the attempts that run now.
    fileprivate func hurry(for core: OperationCore, _ priority: Priority) -> [BodyControl] {
        state.withLock { state in
            guard state.bodies.all.count >= state.width, state.scheduler != nil else { return [] }
            state.urgent.append(Urgent(core: core, priority: priority))
            return state.bodies.all
        }
    }
}
