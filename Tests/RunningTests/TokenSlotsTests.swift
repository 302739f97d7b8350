import FlowrunTestSupport
import Processes
import Testing

@testable import Running

/// A run inside of a make has one slot, and one more for each token.
@Suite(.timeLimit(.minutes(5))) struct TokenSlotsTests {
    init() { EventLoopThread.ensureRunning() }

    /// Has tokens that others take and bring back.
    @EventLoopActor
    private final class FakePool: TokenPool {
        private(set) var count: Int
        private(set) var taken = 0
        private(set) var most = 0
        private var handler: (@EventLoopActor () -> Void)?

        init(_ count: Int) { self.count = count }

        func take() -> Bool {
            guard count > 0 else { return false }
            (count, taken) = (count - 1, taken + 1)
            most = max(most, taken)
            return true
        }

        func giveBack() { (count, taken) = (count + 1, taken - 1) }
        func watch(_ handler: (@EventLoopActor () -> Void)?) { self.handler = handler }
        func share(through fifo: JobserverFIFO) {}
        func serve(_ participants: Int) {}
        func setJobs(_ jobs: Int) {}

        /// Others bring tokens.
        func add(_ more: Int) {
            count += more
            handler?()
        }

        /// Others take all that are there.
        func empty() { count = 0 }
    }

    private static let eight = "steps:\n" + (1...8).map { "  s\($0): { run: x }\n" }.joined()

    @EventLoopActor
    private func most(of run: VirtualRun) -> Int {
        var (running, most) = (0, 0)
        for line in run.lines {
            if line.contains(" started s") { running += 1 }
            if line.contains(" finished s") { running -= 1 }
            most = max(most, running)
        }
        return most
    }

    @Test(arguments: [(0, 1), (2, 3), (20, 6)])
    @EventLoopActor func `so many steps run at once as there are tokens, and one`(tokens: Int, most: Int) throws {
        let pool = FakePool(tokens)
        let run = try VirtualRun(Self.eight, jobs: 6, tokens: pool) { _, _ in .init(duration: .seconds(1)) }
        try run.run()
        #expect(self.most(of: run) == most)
        #expect(pool.most == most - 1 && pool.taken == 0 && pool.count == tokens)
    }

    @Test @EventLoopActor func `a token that comes late starts a step at once, and goes as soon as nothing is ready`()
        throws
    {
        let pool = FakePool(0)
        let run = try VirtualRun(
            "steps: { a: { run: x }, b: { run: x }, c: { run: x, needs: [a, b] } }\n", tokens: pool
        ) { _, _ in .init(duration: .seconds(10)) }
        run.at(.seconds(2)) { pool.add(5) }
        run.at(.seconds(3)) { #expect(pool.taken == 1) }
        run.at(.seconds(11)) { #expect(pool.taken == 0) }
        try run.run()
        #expect(run.lines.contains("2 started b") && run.lines.contains("12 started c"))
    }

    @Test @EventLoopActor func `what lacks a lock takes no token`() throws {
        let pool = FakePool(5)
        let run = try VirtualRun(
            "steps: { s1: { run: x, mutex: m }, s2: { run: x, mutex: m }, s3: { run: x, mutex: m } }\n", tokens: pool
        ) { _, _ in .init(duration: .seconds(1)) }
        run.at(.milliseconds(500)) { #expect(pool.taken == 0) }
        try run.run()
        #expect(most(of: run) == 1 && pool.taken == 0)
    }

    @Test @EventLoopActor func `a cancel gives back all tokens`() throws {
        let pool = FakePool(3)
        let run = try VirtualRun(Self.eight, jobs: 8, tokens: pool) { _, _ in .init(duration: .seconds(1_000)) }
        run.at(.seconds(1)) { run.runner.interrupt(by: 2) }
        try run.run()
        #expect(pool.most == 3 && pool.taken == 0 && pool.count == 3)
    }
}
