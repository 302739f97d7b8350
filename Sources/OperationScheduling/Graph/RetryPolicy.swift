/// Whether and when something that failed is tried again. Errors of attempts that another one follows do not count.
public struct RetryPolicy: Hashable, Sendable {
    /// How long to wait between the end of an attempt and the start of the next.
    public enum Backoff: Hashable, Sendable {
        /// Not at all.
        case none
        /// Always the same time.
        case constant(Duration)
        /// `initial`, then each time `step` more.
        case linear(initial: Duration, step: Duration)
        /// 0, 1, 1, 2, 3, 5, … times `unit`, at most `max`.
        case fibonacci(unit: Duration, max: Duration?)
        /// `initial`, then each time `factor` times as long, at most `max`.
        case exponential(factor: Double, initial: Duration, max: Duration?)
    }

    /// All attempts together, at least 1.
    public var attempts: Int
    /// The wait between two attempts.
    public var backoff: Backoff
    /// The part of each wait that is left to chance, from 0 to 1: with 0.2, a wait of 10 s becomes 8 to 10 s.
    public var jitter: Double
    /// From the first start to the last end, waits included; nil for no limit.
    public var deadline: Duration?
    /// Whether an attempt that timed out is worth another.
    public var retriesTimeout: Bool

    /// No wait and no limit of time unless told otherwise.
    public init(
        attempts: Int, backoff: Backoff = .none, jitter: Double = 0, deadline: Duration? = nil,
        retriesTimeout: Bool = true
    ) {
        precondition(attempts >= 1, "\(attempts) attempts would never start anything")
        precondition((0...1).contains(jitter), "a jitter of \(jitter) is not a part of anything")
        self.attempts = attempts
        self.backoff = backoff
        self.jitter = jitter
        self.deadline = deadline
        self.retriesTimeout = retriesTimeout
    }

    /// The wait before attempt number `attempt`, which is at least 2; the first one waits for nothing.
    public func delay(
        beforeAttempt attempt: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let full = delay(beforeAttempt: attempt)
        guard jitter > 0, full > .zero else { return full }
        return full * (1 - Double.random(in: 0...jitter, using: &generator))
    }

    /// Without the part that is left to chance.
    private func delay(beforeAttempt attempt: Int) -> Duration {
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

    /// Times that no clock can count are cut off here, not where they would overflow.
    private static let longest = Duration.seconds(1 << 40)

    private static func bounded(_ unit: Duration, by max: Duration?, times factor: () -> Double) -> Duration {
        let limit = min(max ?? longest, longest)
        let seconds = Double(unit.components.seconds) + Double(unit.components.attoseconds) * 1e-18
        let factor = factor()
        let limitSeconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
        guard seconds * factor < limitSeconds else { return limit }
        // Whole factors keep the unit exact.
        return factor == factor.rounded() && factor < 1e9 ? unit * Int(factor) : .seconds(seconds * factor)
    }

    private static func fibonacci(_ index: Int) -> Double {
        var (current, next) = (0.0, 1.0)
        // Beyond that every number is longer than `longest` in any unit.
        for _ in 0..<min(index, 1000) { (current, next) = (next, current + next) }
        return current
    }

    private static func power(_ factor: Double, _ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<min(exponent, 100_000) where power.isFinite { power *= factor }
        return power
    }
}
