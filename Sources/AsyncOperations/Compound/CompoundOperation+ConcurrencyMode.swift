extension CompoundOperation {
    /// How many direct members may be in progress at once. A compound operation among them counts from its start to its
    /// end, but not as one of the operations that its queue runs.
    public enum ConcurrencyMode: Hashable, Sendable {
        /// One at a time, in the order in which they were added; one that is not ready, or waits for
        /// mutexes or units, is overtaken.
        case serial
        /// All at once.
        case concurrent
        /// At most this many, at least 1.
        case limited(Int)

        var limit: ConcurrencyLimit {
            switch self {
            case .serial: .members(1)
            case .concurrent: .unlimited
            case .limited(let count): .members(count)
            }
        }
    }
}
