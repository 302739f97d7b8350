import AsyncOperations
import FlowrunTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(20))) struct TaskTrackerTests {
    // N1
    @Test func `one session at a time, completed once after the last end`() throws {
        let tracker = TaskTracker()
        let ends = Record<TaskTracker.End>()
        let session = try tracker.begin { ends.add($0) }
        #expect(tracker.isRunning)
        #expect(throws: UsageError.alreadyStarted(tracker.id)) { try tracker.begin { _ in } }
        let tokens = (0..<3).compactMap { _ in session.startTask() }
        session.seal()
        for token in tokens {
            #expect(ends.entries.isEmpty)
            token.end()
        }
        #expect(ends.entries == [.allEnded])
        #expect(!tracker.isRunning)
        #expect(session.startTask() == nil)
    }

    // N2
    @Test func `it does not end between one end and the next start`() throws {
        let ends = Record<TaskTracker.End>()
        let session = try TaskTracker().begin { ends.add($0) }
        session.startTask()?.end()
        #expect(ends.entries.isEmpty)
        session.startTask()?.end()
        #expect(ends.entries.isEmpty)
        session.seal()
        #expect(ends.entries == [.allEnded])
    }

    // N3
    @Test func `an end counts once, and a token that is dropped has ended`() throws {
        let ends = Record<TaskTracker.End>()
        let session = try TaskTracker().begin { ends.add($0) }
        let first = session.startTask()
        var second = session.startTask()
        session.seal()
        #expect(first?.end() == true)
        #expect(first?.end() == false)
        #expect(ends.entries.isEmpty)
        #expect(second != nil)
        second = nil
        #expect(ends.entries == [.allEnded])
    }

    // N3
    @Test func `a session that is dropped is sealed, and an empty one ends when it is sealed`() throws {
        let tracker = TaskTracker()
        let ends = Record<TaskTracker.End>()
        _ = try tracker.begin { ends.add($0) }
        #expect(ends.entries == [.allEnded])
        #expect(!tracker.isRunning)
    }

    // K7, N4
    @Test func `its limit ends it once, and a new one can begin in the completion`() async throws {
        let clock = ManualClock()
        let tracker = TaskTracker(clock: clock)
        let ends = Record<TaskTracker.End>()
        let over = Latch()
        let next = Record<TaskTracker.Session>()
        let session = try tracker.begin(timeout: .seconds(10)) { end in
            ends.add(end)
            if let session = try? tracker.begin(onEnd: { _ in }) { next.add(session) }
            over.open()
        }
        let tokens = (0..<3).compactMap { _ in session.startTask() }
        tokens[0].end()
        await clock.advance(by: .seconds(10))
        await over.wait()
        // One that is dropped has ended.
        withExtendedLifetime(tokens) {}
        #expect(ends.entries == [.timedOut(stillRunning: 2)])
        #expect(tracker.isRunning && next.entries.count == 1)
    }

    // K8
    @Test func `late ends of a set that timed out do not disturb the next one`() async throws {
        let clock = ManualClock()
        let tracker = TaskTracker(clock: clock)
        let over = Latch()
        let late = try tracker.begin(timeout: .seconds(1)) { _ in over.open() }
        let lateTokens = (0..<3).compactMap { _ in late.startTask() }
        await clock.advance(by: .seconds(1))
        await over.wait()
        let ends = Record<TaskTracker.End>()
        let session = try tracker.begin { ends.add($0) }
        let token = session.startTask()
        session.seal()
        for token in lateTokens { token.end() }
        #expect(ends.entries.isEmpty)
        token?.end()
        #expect(ends.entries == [.allEnded])
    }

    // K2
    @Test func `a session that ends in time leaves no sleeper behind`() async throws {
        let clock = ManualClock()
        let tracker = TaskTracker(clock: clock)
        for _ in 0..<100 {
            let session = try tracker.begin(timeout: .seconds(3600)) { _ in }
            session.startTask()?.end()
            session.seal()
        }
        while clock.sleeperCount > 0 { await Task.yield() }
        #expect(!tracker.isRunning)
    }

    // K4
    @Test func `a limit of nothing is refused`() {
        let tracker = TaskTracker()
        #expect(throws: UsageError.invalidTimeout(tracker.id, .zero)) {
            try tracker.begin(timeout: .zero) { _ in }
        }
        #expect(!tracker.isRunning)
    }

    @Test func `a cancel ends it at once`() throws {
        let ends = Record<TaskTracker.End>()
        let session = try TaskTracker().begin { ends.add($0) }
        let token = session.startTask()
        session.cancel()
        token?.end()
        #expect(ends.entries == [.cancelled(stillRunning: 1)])
    }

    // N4
    @Test func `any thread may start, end and read`() async throws {
        let tracker = TaskTracker()
        for _ in 0..<100 {
            let ends = Record<TaskTracker.End>()
            let session = try tracker.begin { ends.add($0) }
            await withDiscardingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<50 {
                            let token = session.startTask()
                            _ = tracker.isRunning
                            token?.end()
                        }
                    }
                }
            }
            #expect(ends.entries.isEmpty)
            session.seal()
            #expect(ends.entries == [.allEnded])
        }
    }
}
