/// The longest times that are not in the graph; by row, in milliseconds.
package struct OperationCosts: Sendable {
    /// The longest time that an operation may go on after its time limit or after a stop.
    package var closing: [Double]
    /// The longest time that a row may wait for an answer to its condition without a slot; infinite without a limit.
    package var wait: [Double]
    /// The number of groups or operations of the run that a member of an expandable group represents; 1 for all
    /// others.
    package var copies: [Double]
    /// True for operations that will not run, because their own condition or that of an enclosing group is known to
    /// be false.
    package var isLeftOut: [Bool]
    /// The time that other work may add to the total, each millisecond of it at most once, excluding hooks.
    package var once = 0.0
    /// The number of pieces of other work that may take a slot.
    package var otherPieces = 0
    /// The longest time that other work may go on after everything else was stopped.
    package var otherClosing = 0.0

    /// Creates the costs of rows that take no longer than their limits.
    package init(rows count: Int) {
        closing = [Double](repeating: 0, count: count)
        wait = closing
        copies = [Double](repeating: 1, count: count)
        isLeftOut = [Bool](repeating: false, count: count)
    }
}

extension Duration {
    /// The milliseconds, rounded up to a whole number.
    package var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}

extension RetryPolicy {
    /// The sum of all waits between attempts, in milliseconds, without the random part, which only shortens them.
    var longestWaits: Double {
        guard attempts > 1 else { return 0 }
        // Finite, so that a long time differs from no limit at all, but so long that it never matters.
        let longest = 1e18
        func growing(_ initial: Double, by factor: Double, upTo max: Double) -> Double {
            guard initial > 0 else { return 0 }
            var (sum, next) = (0.0, initial)
            for left in stride(from: attempts - 1, to: 0, by: -1) {
                if next >= max || factor == 1 { return sum + min(next, max) * Double(left) }
                sum += next
                next *= factor
            }
            return sum
        }
        switch backoff {
        case .none: return 0
        case .constant(let delay): return max(0, delay.milliseconds) * Double(attempts - 1)
        case .linear(let initial, let step):
            let gaps = Double(attempts - 1)
            return max(0, initial.milliseconds * gaps + step.milliseconds * gaps * (gaps - 1) / 2)
        case .fibonacci(let unit, let max):
            // Each wait is at most twice the one before.
            return growing(unit.milliseconds, by: 2, upTo: min(max?.milliseconds ?? longest, longest))
        case .exponential(let factor, let initial, let max):
            return growing(initial.milliseconds, by: factor, upTo: min(max?.milliseconds ?? longest, longest))
        }
    }
}
