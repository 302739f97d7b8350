internal import Basics
internal import CLinux
internal import Glibc
internal import Processes

/// The client side of the control sockets in a state directory.
enum ControlClient {
    enum Failure: Error, Sendable, Hashable {
        /// There is no such run, or it is over.
        case notRunning
        /// The run exists but does not answer, because it is stopped or very busy.
        case silent
        case refused(errno: Int32)
    }

    /// The most time that a run may take for each part of its reply, in seconds.
    private static let replyTimeout: Int32 = 10

    /// Sends one line to a run and waits for its reply, both without a line feed.
    static func ask(_ request: [UInt8], of run: String, in directory: StateDirectory) throws(Failure) -> [UInt8] {
        let (reply, connection) = try open(request, of: run, in: directory)
        close(connection)
        return reply
    }

    /// Sends one line to a run and waits for its reply; leaves the connection open, for the caller to close.
    static func open(
        _ request: [UInt8], of run: String, in directory: StateDirectory
    ) throws(Failure) -> (reply: [UInt8], connection: Int32) {
        let descriptor = clinux_connect(directory.descriptor, directory.socketName(of: run), replyTimeout)
        guard descriptor >= 0 else { throw failure(errno) }
        do throws(Failure) { return (try exchange(request, on: descriptor), descriptor) } catch {
            close(descriptor)
            throw error
        }
    }

    private static func exchange(_ request: [UInt8], on descriptor: Int32) throws(Failure) -> [UInt8] {
        var rest = (request + [UInt8(ascii: "\n")])[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(errno) }
            rest.removeFirst(count)
        }
        var reply: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while reply.last != UInt8(ascii: "\n") {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            guard count != 0 else { throw .notRunning }
            guard count > 0 else { throw failure(errno) }
            reply += buffer[..<count]
        }
        return reply.dropLast()
    }

    /// A run makes its socket a moment after it takes its lock. A run that is older than this and has no socket gets
    /// none.
    private static let socketTime = Duration.seconds(2)
    private static let pollInterval: UInt32 = 2_000

    /// Returns the ids of the runs that answer, sorted. Removes nothing that dead runs have left.
    ///
    /// Waits up to two seconds for runs that have just taken their lock.
    static func liveRuns(in directory: StateDirectory) -> [String] {
        let clock = EventLoopClock()
        let start = clock.now
        while true {
            let live = answeringRuns(in: directory)
            guard isAnyoneStarting(in: directory, beside: live), start.duration(to: clock.now) < socketTime else {
                return live
            }
            usleep(pollInterval)
        }
    }

    /// Returns the ids of the runs that answer now, without waiting for starting runs.
    static func answeringRuns(in directory: StateDirectory) -> [String] {
        directory.runsWithSockets().filter { run in
            let descriptor = clinux_connect(directory.descriptor, directory.socketName(of: run), replyTimeout)
            if descriptor >= 0 { close(descriptor) }
            return descriptor >= 0
        }
    }

    /// True if there is another run that may be about to make its socket.
    private static func isAnyoneStarting(in directory: StateDirectory, beside live: [String]) -> Bool {
        RunLock.names(in: directory).contains { name in
            // A time in the future counts as recent too: the clock may have been set back.
            guard .microseconds(WallClock.microseconds) - RunLock.lastChange(of: name, in: directory) < socketTime
            else { return false }
            return RunLock.entries(of: name, in: directory).contains { entry in
                entry.isLive && !entry.holder.isWaiting && entry.holder.isAlive && !live.contains(entry.holder.run)
            }
        }
    }

    private static func failure(_ error: Int32) -> Failure {
        switch error {
        case ENOENT, ECONNREFUSED, EPIPE, ECONNRESET: .notRunning
        case EAGAIN: .silent
        default: .refused(errno: error)
        }
    }
}

extension StateDirectory {
    func socketName(of run: String) -> String { "\(run)\(Self.socketEnding)" }

    private static var socketEnding: String { ".sock" }

    /// Returns the ids of runs that have, or have left, a socket here; sorted.
    func runsWithSockets() -> [String] {
        names().filter { $0.hasSuffix(Self.socketEnding) }.map { String($0.dropLast(Self.socketEnding.count)) }
            .filter(RunID.isValid).sorted()
    }

    /// Returns the names of everything in the folder that can be read, in no order.
    func names() -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let folder = fdopendir(copy) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = try? FolderEntry.next(in: folder) { names.append(String(cString: entry.name)) }
        return names
    }

    /// Removes the socket that a run may have left; the run must be over.
    func removeSocket(of run: String) {
        unlinkat(descriptor, socketName(of: run), 0)
    }

    /// Removes the sockets that dead runs left.
    func removeStaleSockets() {
        for run in runsWithSockets() {
            let descriptor = clinux_connect(self.descriptor, socketName(of: run), 1)
            if descriptor >= 0 {
                close(descriptor)
            } else if errno == ECONNREFUSED {
                unlinkat(self.descriptor, socketName(of: run), 0)
            }
        }
    }
}
