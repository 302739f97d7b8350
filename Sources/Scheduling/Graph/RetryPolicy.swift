/// Says whether and when a failed operation is tried again. The last attempt decides the outcome.
public struct RetryPolicy: Hashable, Sendable {
    /// The wait between the end of an attempt and the start of the next. A negative wait counts as none.
    public enum Backoff: Hashable, Sendable {
        /// No wait.
        case none
        /// The same wait each time.
        case constant(Duration)
        /// `initial`, then longer by `step` each time.
        case linear(initial: Duration, step: Duration)
        /// 0, 1, 1, 2, 3, 5, … times `unit`, at most `max`; nil for no limit.
        case fibonacci(unit: Duration, max: Duration?)
        /// `initial`, then `factor` times as long each time, at most `max`; nil for no limit.
        case exponential(factor: Double, initial: Duration, max: Duration?)
    }

    /// The number of attempts, including the first. A number below 1 traps.
    public var attempts: Int { didSet { Self.check(attempts: attempts) } }
    /// The wait between two attempts.
    public var backoff: Backoff
    /// The random part of each wait, from 0 to 1: with 0.2, a wait of 10 s becomes 8 to 10 s. Other numbers trap.
    public var jitter: Double { didSet { Self.check(jitter: jitter) } }
    /// The longest time from the start of the first attempt to the end of the last, including waits; nil for no
    /// limit. Must be above zero: an operation with a zero or negative deadline is refused.
    public var deadline: Duration?
    /// True if an attempt that timed out may be followed by another.
    public var retriesTimeout: Bool

    /// Defaults: no wait, no random part, no deadline, and timeouts are retried. Traps for an invalid `attempts` or
    /// `jitter`.
    public init(
        attempts: Int, backoff: Backoff = .none, jitter: Double = 0, deadline: Duration? = nil,
        retriesTimeout: Bool = true
    ) {
        Self.check(attempts: attempts)
        Self.check(jitter: jitter)
        self.attempts = attempts
        self.backoff = backoff
        self.jitter = jitter
        self.deadline = deadline
        self.retriesTimeout = retriesTimeout
    }

    private static func check(attempts: Int) {
        precondition(attempts >= 1, "a retry policy of \(attempts) attempts never starts anything; use 1 or more")
    }

    private static func check(jitter: Double) {
        precondition((0...1).contains(jitter), "a jitter of \(jitter) is not between 0 and 1")
    }

    /// Returns the wait before attempt number `attempt`, counted from 1; zero before the first. Traps for a number
    /// below 1.
    public func delay(
        beforeAttempt attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let full = delay(beforeAttempt: attempt)
        guard jitter > 0, full > .zero else { return full }
        return full * (1 - Double.random(in: 0...jitter, using: &generator))
    }

    /// Returns the wait without its random part, which only shortens it.
    func delay(beforeAttempt attempt: Int) -> Duration {
        precondition(attempt >= 1, "attempts count from 1")
        guard attempt > 1 else { return .zero }
        let earlier = attempt - 2
        switch backoff {
        case .none: return .zero
        case .constant(let delay): return delay
        case .linear(let initial, let step): return initial + step * earlier
        case .fibonacci(let unit, let max): return Self.bounded(unit, by: max) { Self.fibonacci(earlier) }
        case .exponential(let factor, let initial, let max):
            return Self.bounded(initial, by: max) { Self.power(factor, earlier) }
        }
    }

    /// The upper limit of a wait, so that no sum overflows a clock.
    private static let longest = Duration.seconds(1 << 40)

    private static func bounded(_ unit: Duration, by max: Duration?, times factor: () -> Double) -> Duration {
        let limit = min(max ?? longest, longest)
        let seconds = Double(unit.components.seconds) + Double(unit.components.attoseconds) * 1e-18
        let factor = factor()
        let limitSeconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
        guard seconds * factor < limitSeconds else { return limit }
        // A whole factor keeps the result exact.
        return factor == factor.rounded() && factor < 1e9 ? unit * Int(factor) : .seconds(seconds * factor)
    }

    private static func fibonacci(_ index: Int) -> Double {
        var (current, next) = (0.0, 1.0)
        // Beyond this index, the wait exceeds `longest` whatever the unit.
        for _ in 0..<min(index, 1000) { (current, next) = (next, current + next) }
        return current
    }

    private static func power(_ factor: Double, _ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<min(exponent, 100_000) where power.isFinite { power *= factor }
        return power
    }
}
