/// One job of a waterfall.
struct WaterfallJob<Failure: Error>: Sendable {
    /// A job that gets a value and nothing else. It costs a call.
    typealias Plain = @Sendable (AnyValueBox) async throws(Failure) -> AnyValueBox
    /// A job that is told of requests to stop itself. nil where nobody is left who could finish it, or where it was left
    /// behind.
    typealias Controlled = @Sendable (BodyControl, AnyValueBox) async -> Result<AnyValueBox, Failure>?

    enum Work: Sendable {
        case plain(Plain)
        case controlled(Controlled, JobOptions<Failure>)
    }

    let name: String
    let work: Work
}

/// What a job of a waterfall may be given beside its work.
struct JobOptions<Failure: Error>: Sendable {
    /// The longest that one attempt may take.
    let timeout: Duration?
    let retry: RetryPolicy?
    /// Which errors are worth another attempt; nil for all.
    let retriesError: (@Sendable (Failure) -> Bool)?

    var isDefault: Bool { timeout == nil && retry == nil }
}
