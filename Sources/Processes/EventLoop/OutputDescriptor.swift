internal import CLinux
internal import Glibc

/// A descriptor that is written to without ever waiting for whoever reads from it, and without a change to its flags,
/// which others share.
struct OutputDescriptor {
    private enum Kind {
        /// A file, or an open file description of our own that does not block.
        case own
        case socket
        /// A pipe that is only open as others opened it. It may block.
        case sharedPipe(asksKernel: Bool)
        /// A terminal that is only open as others opened it. It may block.
        case sharedTerminal
    }

    let number: Int32
    private let kind: Kind

    /// How much a terminal takes for certain that says it takes something: next to nothing.
    private static let terminalPiece = 16

    /// Opens a pipe or a terminal once more, because only a new description can be made non-blocking. That is refused
    /// where it belongs to another user or there is no /proc; then the shared one is used with care. Nil with errno
    /// where there is no such descriptor.
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

    /// A description of our own, which does not block unless it is a file's.
    init(own number: Int32) { (self.number, kind) = (number, .own) }

    /// A pipe as it is. `asksKernel`: whether the kernel can be asked not to wait; Linux before 6.4 cannot.
    init(blocking pipe: Int32, asksKernel: Bool = true) {
        (number, kind) = (pipe, .sharedPipe(asksKernel: asksKernel))
    }

    private static func reopened(_ shared: Int32, isTerminal: Bool) -> Int32? {
        let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        let own = open("/proc/self/fd/\(shared)", flags)
        if own >= 0 { return own }
        guard isTerminal else { return nil }
        // Anybody may open his own controlling terminal, whoever owns its device.
        let terminal = open("/dev/tty", flags)
        if terminal >= 0, clinux_same_terminal(terminal, shared) != 0 { return terminal }
        if terminal >= 0 { close(terminal) }
        return nil
    }

    /// Writes as much as goes at once. Returns how much that was, or -1 with errno: EAGAIN where nothing went because
    /// the reader is behind.
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
        // A pipe that says it takes something takes this much.
        return writeIfReady(bytes.prefix(Int(PIPE_BUF)))
    }

    private func writeIfReady(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        guard waitUntilReady(milliseconds: 0) else {
            errno = EAGAIN
            return -1
        }
        return Glibc.write(number, UnsafeRawBufferPointer(rebasing: bytes).baseAddress, bytes.count)
    }

    /// Waits until a write gets somewhere, if only to an error. Returns false where that takes longer; -1 waits for
    /// ever.
    func waitUntilReady(milliseconds: Int32) -> Bool {
        var request = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, milliseconds) > 0
    }
}
