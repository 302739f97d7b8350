import FlowrunTestSupport
import Glibc
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(20))) struct EventLoopClockTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `a sleep is never early`() async throws {
        let clock = EventLoopClock()
        let start = clock.now
        try await clock.sleep(for: .milliseconds(20))
        #expect(start.duration(to: clock.now) >= .milliseconds(20))
    }

    @Test @EventLoopActor func `a cancelled sleep ends at once`() async {
        let task = Task { try await EventLoopClock().sleep(for: .seconds(3600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test @EventLoopActor func `timers fire in the order of their times`() async {
        var order: [Int] = []
        await withCheckedContinuation { continuation in
            Poller.shared.after(.milliseconds(30)) {
                order.append(3)
                continuation.resume()
            }
            Poller.shared.after(.milliseconds(10)) { order.append(1) }
            Poller.shared.after(.milliseconds(20)) { order.append(2) }
        }
        #expect(order == [1, 2, 3])
    }

    @Test @EventLoopActor func `a job made before the loop waits runs before what the loop waits for`() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let (reader, writer) = (ends[0], ends[1])
        var order: [String] = []
        await withCheckedContinuation { continuation in
            Poller.shared.beforeWaiting = {
                Poller.shared.beforeWaiting = nil
                Task { @EventLoopActor in order.append("job") }
                Poller.shared.watch(reader, for: .read) {
                    Poller.shared.unwatch(reader)
                    order.append("event")
                    continuation.resume()
                }
                // The event is there already.
                _ = write(writer, "x", 1)
            }
        }
        #expect(order == ["job", "event"])
    }

    @Test func `an instant far away does not overflow`() {
        let far = EventLoopClock().now.advanced(by: .seconds(Int64.max))
        #expect(far == .distantFuture)
        #expect(EventLoopClock().now < far)
    }
}
