import Glibc
import Testing

@testable import ProcessExecution

@Suite(.timeLimit(.minutes(1))) struct DescriptorSinkTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `a reader that does not read stops nothing, and gets everything in the end`() async {
        let (reader, writer) = pipe()
        let sink = DescriptorSink(writer)
        for _ in 0..<100 { write(10_000, to: sink) }
        #expect(sink.failure == nil)
        let received = Task.detached { readAll(reader, 1_000_000) }
        sink.flush(limit: nil)
        #expect(await received.value == 1_000_000)
        #expect(sink.failure == nil)
    }

    @Test @EventLoopActor func `the flags of a shared descriptor stay as they are`() {
        let (_, writer) = pipe()
        write(100_000, to: DescriptorSink(writer))
        #expect(fcntl(writer, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test @EventLoopActor func `a flush with a limit gives up on a reader that never comes`() {
        let (_, writer) = pipe()
        let sink = DescriptorSink(writer)
        write(1_000_000, to: sink)
        sink.flush(limit: .milliseconds(50))
        #expect(sink.failure == EAGAIN)
    }

    @Test @EventLoopActor func `a full device is an error that is remembered`() throws {
        let sink = try DescriptorSink(creating: "/dev/full")
        write(10, to: sink)
        #expect(sink.failure == ENOSPC)
    }

    @Test @EventLoopActor func `a reader that went away is an error, not the end`() {
        signal(SIGPIPE, SIG_IGN)
        let (reader, writer) = pipe()
        let sink = DescriptorSink(writer)
        close(reader)
        write(10, to: sink)
        #expect(sink.failure == EPIPE)
    }
}

private func pipe() -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    _ = Glibc.pipe(&ends)
    // Programs that other tests start at this moment must not inherit them.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

private func write(_ count: Int, to sink: DescriptorSink) {
    let bytes = [UInt8](repeating: 0x78, count: count)
    bytes.withUnsafeBytes { sink.write($0) }
}

private func readAll(_ descriptor: Int32, _ expected: Int) -> Int {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var count = 0
    while count < expected {
        let got = read(descriptor, &buffer, buffer.count)
        guard got > 0 else { break }
        count += got
    }
    return count
}
