internal import Synchronization

/// The priority of a task. `TaskPriority` is opaque to other modules, so each copy of an optional one costs a call.
struct Priority: Sendable, Comparable {
    /// True once anything below medium has been seen. Until then a wait of medium priority raises nothing.
    private static let isAnyLow = Atomic(false)

    private let rawValue: UInt8

    init(_ priority: TaskPriority) {
        rawValue = priority.rawValue
        if self < .medium { Self.isAnyLow.store(true, ordering: .relaxed) }
    }

    /// False if no body can have a lower one.
    var mayRaise: Bool { self > .medium || Self.isAnyLow.load(ordering: .relaxed) }

    static let medium = Priority(rawValue: TaskPriority.medium.rawValue)
    static var current: Priority { Priority(Task.currentPriority) }

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The higher of those that are known; nil if neither is.
    static func higher(_ one: Priority?, _ other: Priority?) -> Priority? {
        guard let one, let other else { return one ?? other }
        return max(one, other)
    }

    var ofTask: TaskPriority { TaskPriority(rawValue: rawValue) }

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}
