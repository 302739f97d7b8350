import Scheduling
import Testing

@Suite struct RetryPolicyTests {
    // L2
    @Test(arguments: [
        (RetryPolicy.Backoff.none, [0, 0, 0]), (.constant(.seconds(2)), [2, 2, 2]),
        (.linear(initial: .zero, step: .seconds(3)), [0, 3, 6, 9]),
        (.fibonacci(unit: .seconds(1), max: .seconds(30)), [0, 1, 1, 2, 3, 5, 8, 13, 21, 30, 30]),
        (.exponential(factor: 2, initial: .seconds(1), max: .seconds(20)), [1, 2, 4, 8, 16, 20, 20]),
        (.exponential(factor: 1, initial: .seconds(5), max: nil), [5, 5, 5]),
    ])
    func `each back-off has its sequence`(backoff: RetryPolicy.Backoff, expected: [Int]) {
        let policy = RetryPolicy(attempts: 20, backoff: backoff)
        var generator = SystemRandomNumberGenerator()
        let delays = expected.indices.map { policy.delay(beforeAttempt: $0 + 2, using: &generator) }
        #expect(delays == expected.map { .seconds($0) })
    }

    // L2
    @Test func `the first attempt waits for nothing`() {
        var generator = SystemRandomNumberGenerator()
        let policy = RetryPolicy(attempts: 2, backoff: .constant(.seconds(9)))
        #expect(policy.delay(beforeAttempt: 1, using: &generator) == .zero)
    }

    // L2
    @Test func `a hundred thousand draws of a jitter stay within its bounds and fill them`() {
        let policy = RetryPolicy(attempts: 2, backoff: .constant(.seconds(10)), jitter: 0.2)
        var generator = SplitMix(seed: 1)
        let delays = (0..<100_000).map { _ in policy.delay(beforeAttempt: 2, using: &generator) }
        #expect(delays.allSatisfy { $0 >= .seconds(8) && $0 <= .seconds(10) })
        #expect(delays.min()! < .milliseconds(8010))
        #expect(delays.max()! > .milliseconds(9990))
    }

    @Test func `a ladder that grows for ever is cut off, not overflowed`() {
        var generator = SystemRandomNumberGenerator()
        for backoff in [
            RetryPolicy.Backoff.exponential(factor: 10, initial: .seconds(1), max: nil),
            .fibonacci(unit: .seconds(3600), max: nil), .exponential(factor: 1e300, initial: .seconds(1), max: nil),
        ] {
            let policy = RetryPolicy(attempts: 1_000_000, backoff: backoff)
            #expect(policy.delay(beforeAttempt: 1_000_000, using: &generator) >= .seconds(1 << 40))
        }
    }

    @Test func `numbers that mean nothing trap, also when they are set later`() async {
        await #expect(processExitsWith: .failure) { _ = RetryPolicy(attempts: 0) }
        await #expect(processExitsWith: .failure) {
            var policy = RetryPolicy(attempts: 1)
            policy.attempts = 0
        }
        await #expect(processExitsWith: .failure) {
            var policy = RetryPolicy(attempts: 2)
            policy.jitter = 1.5
        }
    }
}
