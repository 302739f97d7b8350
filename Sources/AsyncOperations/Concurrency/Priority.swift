/// The priority of a task. `TaskPriority` is opaque to other modules, so each copy of an optional one costs a call.
struct Priority: Sendable, Comparable {
    private let rawValue: UInt8

    init(_ priority: TaskPriority) { rawValue = priority.rawValue }

    static let medium = Priority(.medium)
    static var current: Priority { Priority(Task.currentPriority) }

    var ofTask: TaskPriority { TaskPriority(rawValue: rawValue) }

    static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}
