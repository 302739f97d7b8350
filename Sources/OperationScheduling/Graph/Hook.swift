/// Rows of a group that run when its body, everything else in it, has ended. Nothing that stops the body reaches them,
/// except `abort`.
package enum Hook: UInt8, Sendable, Hashable, CaseIterable {
    /// After a failure or timeout of the body.
    case onFailure
    /// Whatever happened, if only the group started and was not stopped before any work in it began; after `onFailure`.
    case finally
}
