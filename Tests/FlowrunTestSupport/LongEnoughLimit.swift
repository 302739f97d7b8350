import Testing

/// Calls `body` with a limit of time as a workflow file has it, and with twice that as long as it answers that the
/// limit came before its steps were up. What a test expects of a limit must not depend on how fast the machine is.
package func withLongEnoughLimit(
    from milliseconds: Int = 200, _ body: (_ limit: String, _ seconds: Double) async throws -> Bool
) async throws {
    var limit = milliseconds
    while try await !body("\(limit)ms", Double(limit) / 1000) {
        limit *= 2
        try #require(limit < 600_000, "no limit was long enough")
    }
}
