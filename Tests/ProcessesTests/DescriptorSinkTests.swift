import Basics
import FlowrunTestSupport
import Glibc
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(20))) struct DescriptorSinkTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `a reader that does not read stops nothing and gets all in the end`() async throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = DescriptorSink(writer.number)
        for _ in 0..<100 { write(10_000, to: sink) }
        #expect(sink.failure == nil)
        let received = Task.detached { readAll(reader.number, 1_000_000) }
        await delivery(of: sink)
        #expect(await received.value == 1_000_000)
        #expect(sink.failure == nil)
    }

    @Test @EventLoopActor func `the flags of a shared descriptor stay as they are`() throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        write(100_000, to: DescriptorSink(writer.number))
        #expect(fcntl(writer.number, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test @EventLoopActor func `a reader that goes away with much still waiting is an error, not the end`() async throws
    {
        let writer: Descriptor
        let sink: DescriptorSink
        do {
            let pipe = try Descriptor.pipe()
            writer = pipe.writing
            sink = DescriptorSink(writer.number)
            write(1_000_000, to: sink)
        }
        await delivery(of: sink)
        #expect(sink.failure == EPIPE)
    }

    /// Hands out `count` pieces of 10,000 bytes, the first one all 0, and notes how many.
    private final class Pieces {
        let count: Int
        var taken = 0

        init(_ count: Int) { self.count = count }

        func next(_ take: (UnsafeRawBufferPointer) -> Void) -> Bool {
            guard taken < count else { return false }
            let piece = [UInt8](repeating: UInt8(taken % 100), count: 10_000)
            taken += 1
            piece.withUnsafeBytes { take($0) }
            return true
        }
    }

    @Test @EventLoopActor func `a long text is made only as its reader takes it, in its place`() async throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = DescriptorSink(writer.number)
        let (first, second) = (Pieces(3000), Pieces(2))
        write(5, to: sink)
        sink.write(pulling: first.next)
        write(7, to: sink)
        sink.write(pulling: second.next)
        write(11, to: sink)
        // A pipe takes 64 KiB; one piece more waits.
        #expect(first.taken < 20)
        #expect(second.taken == 0)
        #expect(sink.hasPending && !sink.isCongested)
        let received = Task.detached { readBytes(reader.number, 30_020_023) }
        await delivery(of: sink)
        let bytes = await received.value
        #expect(bytes.count == 30_020_023)
        let x: UInt8 = 0x78
        #expect(bytes.prefix(5).allSatisfy { $0 == x } && bytes[5] == 0 && bytes[10_005] == 1)
        #expect(bytes[30_000_005..<30_000_012].allSatisfy { $0 == x } && bytes[30_000_012] == 0)
        #expect(bytes.suffix(11).allSatisfy { $0 == x } && bytes[bytes.count - 12] == 1)
        #expect(!sink.hasPending && sink.failure == nil)
    }

    @Test @EventLoopActor func `a long text that goes to a file lets the loop turn and is written whole`() async throws
    {
        let path = "/tmp/flowrun-sink-\(getpid())"
        defer { unlink(path) }
        let sink = try DescriptorSink(creating: path)
        let pieces = Pieces(1000)
        sink.write(pulling: pieces.next)
        write(3, to: sink)
        #expect(pieces.taken < 1000)
        await delivery(of: sink)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_size == 10_000_003)
        #expect(sink.failure == nil)
    }

    @Test @EventLoopActor func `what waits behind long texts, and their number, hold steps back`() throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = DescriptorSink(writer.number)
        let pieces = (0..<40).map { _ in Pieces(100) }
        sink.write(pulling: pieces[0].next)
        write(300_000, to: sink)
        sink.write(pulling: pieces[1].next)
        #expect(!sink.isCongested)
        write(300_000, to: sink)
        #expect(sink.isCongested)

        let (other, third) = try Descriptor.pipe()
        defer { withExtendedLifetime(other) {} }
        let many = DescriptorSink(third.number)
        for pieces in pieces { many.write(pulling: pieces.next) }
        #expect(many.isCongested)
    }

    /// A sink for a pipe of which only the blocking description is to be had, as for one of another user's.
    @EventLoopActor private func sharedSink(_ writer: Descriptor) -> DescriptorSink {
        DescriptorSink(OutputDescriptor(blocking: writer.number))
    }

    @Test @EventLoopActor func `a pipe that cannot be opened once more does not stop the loop`() async throws {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let sink = sharedSink(writer)
        // Were one write to wait for the reader, the test would hang.
        for _ in 0..<20 { write(10_000, to: sink) }
        #expect(sink.hasPending && sink.failure == nil)
        let received = Task.detached { readAll(reader.number, 200_000) }
        await delivery(of: sink)
        #expect(await received.value == 200_000)
        #expect(fcntl(writer.number, F_GETFL) & O_NONBLOCK == 0)
    }

    @Test @EventLoopActor func `where the kernel cannot say so, a pipe is given no more than it takes for certain`()
        throws
    {
        let (reader, writer) = try Descriptor.pipe()
        defer { withExtendedLifetime(reader) {} }
        let descriptor = OutputDescriptor(blocking: writer.number, asksKernel: false)
        let bytes = [UInt8](repeating: 0x78, count: 100_000)
        var count = 0
        while case let written = bytes.withUnsafeBytes(descriptor.write), written > 0 {
            #expect(written <= 4096)
            count += written
        }
        #expect(errno == EAGAIN && count == 65_536)
    }

    @Test @EventLoopActor func `a file that cannot be made is an error at once`() {
        #expect(throws: SystemError(ENOENT)) { try DescriptorSink(creating: "/nowhere/at/all") }
    }

    @Test @EventLoopActor func `a full device is an error that is remembered`() throws {
        let sink = try DescriptorSink(creating: "/dev/full")
        write(10, to: sink)
        #expect(sink.failure == ENOSPC)
    }

    @Test @EventLoopActor func `a reader that went away is an error, not the end`() throws {
        let writer = try Descriptor.pipe().writing
        let sink = DescriptorSink(writer.number)
        write(10, to: sink)
        #expect(sink.failure == EPIPE)
    }
}

/// Lets the loop turn until the sink has nothing left.
@EventLoopActor
private func delivery(of sink: DescriptorSink) async {
    while sink.hasPending {
        await withCheckedContinuation { done in Poller.shared.after(.milliseconds(1)) { done.resume() } }
    }
}

private func write(_ count: Int, to sink: DescriptorSink) {
    let bytes = [UInt8](repeating: 0x78, count: count)
    bytes.withUnsafeBytes { sink.write($0) }
}

private func readBytes(_ descriptor: Int32, _ expected: Int) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65536)
    var bytes: [UInt8] = []
    while bytes.count < expected {
        let got = read(descriptor, &buffer, buffer.count)
        guard got > 0 else { break }
        bytes += buffer[..<got]
    }
    return bytes
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
