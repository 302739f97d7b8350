import AsyncOperations
import Testing

/// Chains of operations over many queues.
@Suite(.timeLimit(.minutes(20))) struct ChainTests {
    @Test(arguments: [1, 3])
    func `a failure ends a chain of twenty thousand over as many queues without recursion`(_ together: Int) async throws
    {
        let first = failing()
        let others = (0..<20_000).map { _ in nothing() }
        try others[0].addDependency(on: first)
        for (earlier, later) in zip(others, others.dropFirst()) { try later.addDependency(on: earlier) }
        for other in others.reversed() { try other.start() }
        try first.start()
        for other in others.suffix(together) { #expect(await other.result == .failure(.notRun(rootCause: first.id))) }
    }
}
