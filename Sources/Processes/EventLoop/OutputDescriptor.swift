internal import CLinux
internal import Glibc

/// A descriptor that is written to without ever waiting for its reader, and without changing its flags, which other
/// processes share.
struct OutputDescriptor {
    private enum Kind {
        /// A file, or an open file description of our own that does not block.
        case own
        case socket
        /// A pipe that could not be reopened and is shared with others. It may block.
        case sharedPipe(asksKernel: Bool)
        /// A terminal that could not be reopened and is shared with others. It may block.
        case sharedTerminal
    }

    let number: Int32
    private let kind: Kind

    /// The number of bytes that a terminal surely takes once it polls as writable: next to nothing.
    private static let terminalPiece = 16

    /// Reopens a pipe or a terminal, because only a new open file description can be made non-blocking. If that is
    /// refused (it belongs to another user, or there is no /proc), uses the shared one with care. Returns nil and
    /// sets errno if there is no such descriptor.
    init?(sharing shared: Int32) {
        var status = stat()
        guard fstat(shared, &status) == 0 else { return nil }
        let kind = status.st_mode & S_IFMT
        let isTerminal = kind == S_IFCHR && isatty(shared) == 1
        if kind == S_IFSOCK {
            (number, self.kind) = (shared, .socket)
        } else if kind == S_IFIFO || isTerminal {
            let own = Self.reopened(shared, isTerminal: isTerminal)
            number = own ?? shared
            self.kind = own != nil ? .own : isTerminal ? .sharedTerminal : .sharedPipe(asksKernel: true)
        } else {
            (number, self.kind) = (shared, .own)
        }
    }

    /// Takes an open file description of our own, which does not block unless it is a file's.
    init(own number: Int32) { (self.number, kind) = (number, .own) }

    /// Takes a pipe as it is. `asksKernel` is true if the kernel can be asked not to wait; Linux before 6.4 cannot.
    init(blocking pipe: Int32, asksKernel: Bool = true) {
        (number, kind) = (pipe, .sharedPipe(asksKernel: asksKernel))
    }

    private static func reopened(_ shared: Int32, isTerminal: Bool) -> Int32? {
        let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let own = open("/proc/self/fd/\(shared)", flags)
        if own >= 0 { return own }
        guard isTerminal else { return nil }
        // A process may always open its controlling terminal, even if the device belongs to another user.
        let terminal = open("/dev/tty", flags)
        if terminal >= 0, clinux_same_terminal(terminal, shared) != 0 { return terminal }
        if terminal >= 0 { close(terminal) }
        return nil
    }

    /// Writes as much as the descriptor takes at once. Returns the number of bytes, or -1 with errno: EAGAIN if
    /// nothing was written because the reader is behind.
    func write(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch kind {
        case .own: Glibc.write(number, bytes.baseAddress, bytes.count)
        case .socket: send(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        case .sharedPipe(let asksKernel): writeToSharedPipe(bytes, asksKernel: asksKernel)
        case .sharedTerminal: writeIfReady(bytes.prefix(Self.terminalPiece))
        }
    }

    private func writeToSharedPipe(_ bytes: UnsafeRawBufferPointer, asksKernel: Bool) -> Int {
        if asksKernel {
            let count = clinux_write_now(number, bytes.baseAddress, bytes.count)
            if count >= 0 || errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL { return count }
        }
        // A pipe that polls as writable takes at least this much.
        return writeIfReady(bytes.prefix(Int(PIPE_BUF)))
    }

    private func writeIfReady(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        guard waitUntilReady(milliseconds: 0) else {
            errno = EAGAIN
            return -1
        }
        return Glibc.write(number, UnsafeRawBufferPointer(rebasing: bytes).baseAddress, bytes.count)
    }

    /// Waits until a write makes progress, if only by failing. Returns false on timeout; -1 waits for ever.
    func waitUntilReady(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }
}
