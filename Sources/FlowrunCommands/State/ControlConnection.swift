internal import Glibc
internal import Processes

/// One client of a control socket, from its request to the last byte of the reply.
@EventLoopActor
final class ControlConnection {
    /// The size of the longest request.
    private static let maximumRequest = 64 << 10

    private let descriptor: Int32
    private let answer: ControlServer.Answer
    private let onClose: @EventLoopActor (ControlConnection) -> Void
    private var request: [UInt8] = []
    private var reply: [UInt8] = []
    private var written = 0
    private var isClosed = false

    init(
        _ descriptor: Int32, answer: @escaping ControlServer.Answer,
        onClose: @escaping @EventLoopActor (ControlConnection) -> Void
    ) {
        self.descriptor = descriptor
        self.answer = answer
        self.onClose = onClose
    }

    func start() {
        Poller.shared.watch(descriptor, for: .read) { self.readSome() }
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        Poller.shared.unwatch(descriptor)
        Glibc.close(descriptor)
    }

    private func end() {
        close()
        onClose(self)
    }

    private func readSome() {
        let count = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4096) { buffer in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { request.append(contentsOf: buffer.prefix(count)) }
            return count
        }
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0, request.count <= Self.maximumRequest else { return end() }
        guard let lineEnd = request.firstIndex(of: UInt8(ascii: "\n")) else { return }
        Poller.shared.unwatch(descriptor)
        reply = answer(Array(request[..<lineEnd]))
        reply.append(UInt8(ascii: "\n"))
        // The answer may have ended the run, and with it this connection.
        guard !isClosed else { return }
        writeSome()
        if !isClosed { Poller.shared.watch(descriptor, for: .write) { self.writeSome() } }
    }

    private func writeSome() {
        while written < reply.count {
            let count = reply.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress! + written, bytes.count - written, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { break }
            written += count
        }
        end()
    }
}
