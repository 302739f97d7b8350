/// An event that can be waited for.
enum WaitEvent: Sendable {
    /// An operation starts, or ends without a start.
    case start(OperationCore)
    /// An operation ends, in the current round of its enclosing operations.
    case end(OperationCore)
    /// A compound operation has a place for one more member.
    case place(in: CompoundCore)
    /// This many units of a pool are free.
    case units(Int, of: Pool)
    /// A queue has room for one more body.
    case turn(in: QueueCore)
    /// A queue is idle.
    case idle(QueueCore)

    var core: OperationCore? {
        switch self {
        case .start(let core), .end(let core): core
        case .place, .units, .turn, .idle: nil
        }
    }
}

extension Sequence where Element: OperationCore {
    /// The ends of the operations.
    var ends: [WaitEvent] { map { .end($0) } }

    /// True if the operation itself is among them.
    func includes(_ core: OperationCore) -> Bool { contains { $0 === core } }
}

extension WaitEvent: Hashable {
    private struct Key: Hashable {
        let kind: Int
        let subject: ObjectIdentifier
        var count = 0
    }

    private var key: Key {
        switch self {
        case .start(let core): Key(kind: 0, subject: ObjectIdentifier(core))
        case .end(let core): Key(kind: 1, subject: ObjectIdentifier(core))
        case .place(let compound): Key(kind: 2, subject: ObjectIdentifier(compound))
        case .turn(let queue): Key(kind: 3, subject: ObjectIdentifier(queue))
        case .units(let count, let pool): Key(kind: 5, subject: ObjectIdentifier(pool), count: count)
        case .idle(let queue): Key(kind: 4, subject: ObjectIdentifier(queue))
        }
    }

    static func == (left: WaitEvent, right: WaitEvent) -> Bool { left.key == right.key }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
