package import SourceDiagnostics

/// When and how often a step or group is tried again.
package struct Retry: Sendable, Hashable {
    /// An end that is worth another attempt.
    package enum Reason: Sendable, Hashable {
        case exitCode(Int32)
        case timeout
        /// Ended by a signal that flowrun did not send.
        case signal
    }

    /// All attempts together, at least 1.
    package let attempts: Int
    /// Before the second attempt.
    package let delay: Duration
    /// What the delay is multiplied by from attempt to attempt, at least 1.
    package let backoff: Double
    /// The longest delay; nil for none.
    package let maxDelay: Duration?
    /// The part of each delay that is left to chance, from 0 to 1.
    package let jitter: Double
    /// Empty: any failure or timeout.
    package let reasons: [Reason]
    /// From the first start to the last end, delays included; nil for none.
    package let deadline: TimeLimit?
    package let range: SourceRange

    package init(
        attempts: Int, delay: Duration = .zero, backoff: Double = 1, maxDelay: Duration? = nil, jitter: Double = 0,
        reasons: [Reason] = [], deadline: TimeLimit? = nil, range: SourceRange
    ) {
        self.attempts = attempts
        self.delay = delay
        self.backoff = backoff
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.reasons = reasons
        self.deadline = deadline
        self.range = range
    }
}
