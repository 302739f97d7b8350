internal import Basics
internal import CLinux
internal import Glibc
internal import Processes

/// The server of a run's control socket: replies to lines with lines, on the event loop, without interpreting them.
///
/// A connection carries one request and its reply. Nothing here blocks: a client that does not write, or does not
/// read, costs no more than its connection's memory.
@EventLoopActor
final class ControlServer {
    /// Returns the reply to a request, both without a line feed. Called in the order of the requests. Returns nil if it
    /// keeps the connection, to reply later or to know when the client is gone.
    typealias Answer = @EventLoopActor ([UInt8], ControlConnection) -> [UInt8]?

    private static let maximumConnections = 32
    /// More runs that wait are sent away, and ask again.
    private static let maximumKept = 128

    private let directory: StateDirectory
    private let name: String
    private let listener: Int32
    private let answer: Answer
    // Oldest first.
    private var connections: [ControlConnection] = []

    private var kept: Int { connections.count(where: \.isKept) }

    /// Listens on the run's socket from now on. Throws if it cannot be made.
    init(of run: String, in directory: StateDirectory, answer: @escaping Answer) throws(SystemError) {
        name = directory.socketName(of: run)
        listener = clinux_listen(directory.descriptor, name)
        guard listener >= 0 else { throw .last }
        self.directory = directory
        self.answer = answer
        Poller.shared.watch(listener, for: .read) { self.acceptAll() }
    }

    /// Removes the socket and closes its connections. Must be called once.
    func close() {
        unlinkat(directory.descriptor, name, 0)
        Poller.shared.unwatch(listener)
        Glibc.close(listener)
        for connection in connections { connection.close() }
        connections = []
    }

    private func acceptAll() {
        while true {
            var peer: uid_t = 0
            let descriptor = clinux_accept(listener, &peer)
            guard descriptor >= 0 else {
                if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS { pause() }
                if errno == ECONNABORTED || errno == EINTR { continue }
                return
            }
            guard peer == geteuid() else {
                Glibc.close(descriptor)
                continue
            }
            // Not those that wait for this run, or are inside of it.
            if connections.count - kept == Self.maximumConnections,
                let oldest = connections.firstIndex(where: { !$0.isKept })
            {
                connections.remove(at: oldest).close()
            }
            let connection = ControlConnection(
                descriptor, answer: answer,
                mayKeep: { [weak self] in self.map { $0.kept <= Self.maximumKept } ?? false },
                onClose: { [weak self] connection in self?.connections.removeAll { $0 === connection } })
            connections.append(connection)
            connection.start()
        }
    }

    /// Stops listening for a moment: without free descriptors, the waiting connection would wake the loop again and
    /// again.
    private func pause() {
        Poller.shared.unwatch(listener)
        Poller.shared.after(.milliseconds(100)) { [weak self] in
            guard let self else { return }
            Poller.shared.watch(listener, for: .read) { self.acceptAll() }
        }
    }
}

/// One client of a control socket, from its request to the last byte of the reply; one that is kept, until the client
/// closes it.
@EventLoopActor
final class ControlConnection {
    /// The size of the longest request.
    private static let maximumRequest = 64 << 10

    private let descriptor: Int32
    private let answer: ControlServer.Answer
    private let mayKeep: @EventLoopActor () -> Bool
    private let onClose: @EventLoopActor (ControlConnection) -> Void
    private var request: [UInt8] = []
    private var reply: [UInt8] = []
    private var written = 0
    private var isClosed = false
    /// True once its request is answered later, or without an end.
    private(set) var isKept = false
    private var onGone: (@EventLoopActor () -> Void)?

    init(
        _ descriptor: Int32, answer: @escaping ControlServer.Answer, mayKeep: @escaping @EventLoopActor () -> Bool,
        onClose: @escaping @EventLoopActor (ControlConnection) -> Void
    ) {
        self.descriptor = descriptor
        self.answer = answer
        self.mayKeep = mayKeep
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
        onGone.take()?()
    }

    /// Keeps the connection open from its request on. Calls `onGone` once it is closed, by either side: at once if too
    /// many are kept.
    func keep(_ onGone: @escaping @EventLoopActor () -> Void) {
        isKept = true
        self.onGone = onGone
        if !mayKeep() { end() }
    }

    /// Sends the reply of a connection that is kept, which is short, and leaves the connection open.
    func send(_ line: [UInt8]) {
        guard !isClosed else { return }
        let bytes = line + [UInt8(ascii: "\n")]
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count != bytes.count { end() }
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
        if isKept, count > 0 { return request.removeAll() }
        guard count > 0, request.count <= Self.maximumRequest else { return end() }
        guard let lineEnd = request.firstIndex(of: UInt8(ascii: "\n")) else { return }
        let line = Array(request[..<lineEnd])
        request.removeAll()
        // The answer may have ended the run, and with it this connection.
        guard let answer = answer(line, self), !isClosed else { return }
        Poller.shared.unwatch(descriptor)
        reply = answer + [UInt8(ascii: "\n")]
        writeSome()
        if !isClosed { Poller.shared.watch(descriptor, for: .write) { self.writeSome() } }
    }

    private func writeSome() {
        while written < reply.count {
            let count = reply.withUnsafeBytes { bytes in
                Glibc.send(descriptor, bytes.baseAddress! + written, bytes.count - written, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { break }
            written += count
        }
        end()
    }
}
