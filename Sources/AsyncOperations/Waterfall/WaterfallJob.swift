/// A job of a waterfall. It does not know the types that it takes, returns and throws: the jobs next to it agree on
/// them.
@usableFromInline struct WaterfallJob: Sendable {
    /// A job that takes a value and nothing else. It costs a call.
    @usableFromInline typealias Plain = @Sendable (AnyValueBox) async throws -> AnyValueBox
    /// A job that hears of requests to stop itself. Its result is `nothing` if it was left behind, or if nobody is left
    /// who could finish it.
    typealias Controlled = @Sendable (BodyControl, AnyValueBox) async -> Made

    enum Work: Sendable {
        case plain(Plain)
        case controlled(Controlled, JobOptions)
    }

    let name: String
    let work: Work
}

/// The settings of a waterfall's job, apart from its work.
struct JobOptions: Sendable {
    /// The longest that one attempt may take.
    var timeout: Duration?
    var retry: RetryPolicy?
    /// Which errors are worth another attempt; nil for all.
    var retriesError: (@Sendable (any Error) -> Bool)?
    var mutexes: Set<String> = []

    /// Its time limits.
    var limits: [Duration] { [timeout, retry?.deadline].compactMap(\.self) }

    var isDefault: Bool { timeout == nil && retry == nil }
}
