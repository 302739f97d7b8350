internal import Synchronization

/// The priority of a task. `TaskPriority` is opaque to other modules, so each copy of an optional one costs a call.
struct Priority: Sendable, Comparable {
    /// Whether anything below medium has been seen. Otherwise a wait of medium priority raises nothing.
    private static let isAnyLow = Atomic(false)

    private let rawValue: UInt8

    init(_ priority: TaskPriority) {
        rawValue = priority.rawValue
        if self < .medium { Self.isAnyLow.store(true, ordering: .relaxed) }
    }

    /// Whether there may be bodies of a lower one.
    var mayRaise: Bool { self > .medium || Self.isAnyLow.load(ordering: .relaxed) }

    static let medium = Priority(rawValue: TaskPriority.medium.rawValue)
    static var current: Priority { Priority(Task.currentPriority) }

    private init(rawValue: UInt8) { self.rawValue = rawValue }

    var ofTask: TaskPriority { TaskPriority(rawValue: rawValue) }

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}
