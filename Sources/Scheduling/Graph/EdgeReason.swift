/// Why something starts after something else. An edge for one reason neither replaces nor removes one for another.
package enum EdgeReason: UInt8, Sendable, Hashable {
    /// A dependency that was asked for.
    case dependency
    /// The target comes later in a sequence, which records how its members have ended.
    case order
    /// A dependency on something inside the prerequisite, whose end counts only when the prerequisite is over.
    case rounds
    /// A dependency of something inside the dependent, which must not start before and hold up what it waits for.
    case inside
    /// The same over a way that only the caller knows.
    case outside
}
