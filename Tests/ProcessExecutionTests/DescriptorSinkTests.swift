import FlowrunTestSupport
import Glibc
import Testing

@testable import ProcessExecution

@Suite(.timeLimit(.minutes(5))) struct DescriptorSinkTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `a reader that does not read stops nothing and gets all in the end`() async throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = DescriptorSink(writer.number)
        for _ in 0..<100 { write(10_000, to: sink) }
        #expect(sink.failure == nil)
        let received = Task.detached { readAll(reader.number, 1_000_000) }
        sink.flush(limit: nil)
        #expect(await received.value == 1_000_000)
        #expect(sink.failure == nil)
    }

    @Test @EventLoopActor func `the flags of a shared descriptor stay as they are`() throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        write(100_000, to: DescriptorSink(writer.number))
        #expect(fcntl(writer.number, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test @EventLoopActor func `a flush with a limit gives up on a reader that never comes`() throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = DescriptorSink(writer.number)
        write(1_000_000, to: sink)
        sink.flush(limit: .milliseconds(50))
        #expect(sink.failure == EAGAIN)
    }

    @Test @EventLoopActor func `a reader that goes away with much still waiting is an error, not the end`() throws {
        signal(SIGPIPE, SIG_IGN)
        let writer: Descriptor
        let sink: DescriptorSink
        do {
            let pipe = try Descriptor.pipe()
            writer = pipe.writing
            sink = DescriptorSink(writer.number)
            write(1_000_000, to: sink)
        }
        sink.flush(limit: nil)
        #expect(sink.failure == EPIPE)
    }

    @Test @EventLoopActor func `a full device is an error that is remembered`() throws {
        let sink = try DescriptorSink(creating: "/dev/full")
        write(10, to: sink)
        #expect(sink.failure == ENOSPC)
    }

    @Test @EventLoopActor func `a reader that went away is an error, not the end`() throws {
        signal(SIGPIPE, SIG_IGN)
        let writer = try Descriptor.pipe().writing
        let sink = DescriptorSink(writer.number)
        write(10, to: sink)
        #expect(sink.failure == EPIPE)
    }
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
