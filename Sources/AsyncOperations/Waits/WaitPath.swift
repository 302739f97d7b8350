/// The reason why an operation has not ended yet: the path of waits from it to the event that must happen first.
public struct WaitPath: Sendable, Hashable {
    /// The next event that an operation needs.
    public enum Need: Sendable, Hashable {
        /// Its body must return.
        case toEnd
        /// It belongs to no queue and was not started. `start()`, `add`, or waiting for its value starts it.
        case toBeStarted
        /// This queue, or an operation that was started by itself, must be resumed.
        case toBeResumed(AsyncOperationID)
        /// All places of this queue are taken.
        case aPlace(in: AsyncOperationID)
        /// It needs nothing but its turn, or the end of a back-off.
        case itsTurn
    }

    /// The queried operation, followed by the operation that each one waits for.
    public let operations: [AsyncOperationID]
    /// The need of the last operation.
    public let need: Need
}

extension WaitPath: CustomStringConvertible {
    /// The path in one line, such as "b waits for a, which was never started", with the names in backticks.
    public var description: String {
        let verdict =
            switch need {
            case .toEnd: "runs"
            case .toBeStarted: "was never started"
            case .toBeResumed(let id) where id == operations.last: "is suspended"
            case .toBeResumed(let queue): "is held back by the suspension of \(queue)"
            case .aPlace(let queue): "waits for a place in \(queue)"
            case .itsTurn: "is about to start"
            }
        let way = operations.map(\.description)
        guard way.count > 1 else { return "\(way.joined()) \(verdict)" }
        return "\(way.joined(separator: " waits for ")), which \(verdict)"
    }
}

extension AsyncOperationProtocol {
    /// The reason why it has not ended: the path of waits to an event that must happen first, such as the start of an
    /// operation that was never started. nil if it has ended, or if only its own body must return. A snapshot, for a
    /// log or a debugger. O(upstream operations).
    public var waitingFor: WaitPath? { erased.core.waitPath }
}

extension OperationCore {
    /// The reason why it has not ended; nil if it has, or if only its own body must return. O(upstream operations).
    fileprivate var waitPath: WaitPath? {
        Self.withTopology {
            var graph = WaitGraph(for: .wait)
            graph.collect([.end(self)])
            var best: (need: WaitPath.Need, way: [WaitEvent])?
            graph.search(from: [.end(self)]) { event, way in
                if let need = event.need, best.map({ need.precedes($0.need) }) ?? true { best = (need, way()) }
                return !event.hasHappened
            }
            guard let best else { return nil }
            let operations = Self.ids(of: best.way)
            if operations.count == 1, best.need == .toEnd { return nil }
            return WaitPath(operations: operations, need: best.need)
        }
    }
}

extension WaitPath.Need {
    /// True if it explains a wait better: a need that may never be met by itself comes first.
    fileprivate func precedes(_ other: WaitPath.Need) -> Bool { rank < other.rank }

    private var rank: Int {
        switch self {
        case .toBeStarted: 0
        case .toBeResumed: 1
        case .aPlace: 2
        case .toEnd: 3
        case .itsTurn: 4
        }
    }
}

extension WaitEvent {
    fileprivate var hasHappened: Bool {
        switch self {
        case .start(let core): core.lifecycle.hasBegun
        case .end(let core): core.lifecycle.latestEnd != nil
        case .place, .units, .turn, .idle: false
        }
    }

    /// The need of an event that requires no other event first; nil for any other event.
    fileprivate var need: WaitPath.Need? {
        switch self {
        case .start(let core):
            switch core.lifecycle {
            case .idle: core.neededCores.allSatisfy(\.isFinished) ? .toBeStarted : nil
            case .waiting(_, isReady: true): .itsTurn
            case .waiting, .dissolving, .member, .taken, .running, .open, .settled, .ended: nil
            }
        case .end(let core):
            if case .running(let control) = core.lifecycle, control.wait == nil { .toEnd } else { nil }
        case .turn(let queue): queue.need
        case .place, .units, .idle: nil
        }
    }
}

extension QueueCore {
    /// The need of one more body here; nil if it may begin.
    fileprivate var need: WaitPath.Need? {
        state.withLock { state in
            if state.isSuspended { return .toBeResumed(owner ?? id) }
            return state.bodies.all.count < state.width ? nil : .aPlace(in: id)
        }
    }
}
