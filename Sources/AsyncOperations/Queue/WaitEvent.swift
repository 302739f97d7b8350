/// What something may wait for.
enum WaitEvent: Sendable {
    /// That an operation starts, or ends without.
    case start(OperationCore)
    /// That it ends, in the present round of what is around it.
    case end(OperationCore)
    /// That one more member may be in progress.
    case place(in: CompoundCore)
    /// That one more body may run.
    case turn(in: QueueCore)
    /// That nothing is left to do.
    case idle(QueueCore)

    var core: OperationCore? {
        switch self {
        case .start(let core), .end(let core): core
        case .place, .turn, .idle: nil
        }
    }
}

extension WaitEvent: Hashable {
    private struct Key: Hashable {
        let kind: Int
        let subject: ObjectIdentifier
    }

    private var key: Key {
        switch self {
        case .start(let core): Key(kind: 0, subject: ObjectIdentifier(core))
        case .end(let core): Key(kind: 1, subject: ObjectIdentifier(core))
        case .place(let compound): Key(kind: 2, subject: ObjectIdentifier(compound))
        case .turn(let queue): Key(kind: 3, subject: ObjectIdentifier(queue))
        case .idle(let queue): Key(kind: 4, subject: ObjectIdentifier(queue))
        }
    }

    static func == (left: WaitEvent, right: WaitEvent) -> Bool { left.key == right.key }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
