import FlowrunTestSupport
import Glibc
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(20))) struct PollerTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `an event of a closed descriptor is not one of the next with its number`() async throws {
        let pipes = try [TestPipe(), TestPipe(), TestPipe()]
        let (first, second, next) = (pipes[0], pipes[1], pipes[2])
        defer { for pipe in pipes { pipe.closeWriting() } }
        var events: [String] = []
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            // Both are ready in one turn: the event of the one that is heard second comes after its end.
            @EventLoopActor func replace(_ other: TestPipe, heardBy own: TestPipe) {
                events.append("first")
                Poller.shared.close(own.reading)
                Poller.shared.close(other.reading)
                let number = dup2(next.reading, other.reading)
                Glibc.close(next.reading)
                Poller.shared.watchOnce(number) {
                    events.append("next")
                    Poller.shared.closeAfterEvent(number)
                    done.resume()
                }
                Poller.shared.after(.zero) {
                    events.append("written")
                    next.write()
                }
            }
            Poller.shared.watch(first.reading, for: .read) { replace(second, heardBy: first) }
            Poller.shared.watch(second.reading, for: .read) { replace(first, heardBy: second) }
            first.write()
            second.write()
        }
        #expect(events == ["first", "written", "next"])
    }
}

private struct TestPipe {
    let reading: Int32
    private let writing: Int32

    init() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
    }

    func write() { _ = Glibc.write(writing, "x", 1) }

    func closeWriting() { close(writing) }
}
