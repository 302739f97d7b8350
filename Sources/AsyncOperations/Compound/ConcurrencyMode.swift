/// How many direct members of a compound operation may be in progress at once. A compound operation among them counts
/// from its start to its end, and takes none of the queue's places itself.
public enum ConcurrencyMode: Hashable, Sendable {
    /// One, in the order in which they were added, but for what waits for something else.
    case serial
    /// All.
    case concurrent
    /// So many, at least 1.
    case limited(Int)

    var limit: ConcurrencyLimit {
        switch self {
        case .serial: .members(1)
        case .concurrent: .unlimited
        case .limited(let count): .members(count)
        }
    }
}
