package import Basics
internal import Glibc

/// Keeps the output of a step until it can be shown: in memory while it is small, then in a nameless file, which no
/// crash can leave behind.
package final class OutputSpool {
    /// The number of bytes kept in memory, and the unit of writes to the file.
    private static let memoryLimit = 32 * 1024

    private let directory: String
    private var memory: [UInt8] = []
    private var file: Int32?
    private var fileSize = 0

    /// `directory` is the place of the file, which is made once it is needed.
    package init(directory: String) {
        self.directory = directory
    }

    deinit {
        if let file { close(file) }
    }

    /// True if everything is in memory.
    package var isSmall: Bool { file == nil }

    package var count: Int { fileSize + memory.count }

    /// Throws if the file cannot be made or written. Then none of `bytes` are kept, and earlier bytes are not
    /// affected.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        if memory.count + bytes.count <= Self.memoryLimit {
            memory.append(contentsOf: bytes)
            return
        }
        // Writes of an even size cost a file system much less.
        let even = (memory.count + bytes.count) / Self.memoryLimit * Self.memoryLimit - memory.count
        let failure = memory.withUnsafeBytes { write($0, UnsafeRawBufferPointer(rebasing: bytes[..<even])) }
        if let failure { throw failure }
        memory.removeAll(keepingCapacity: true)
        memory.append(contentsOf: bytes[even...])
    }

    /// Passes a piece of at most `limit` bytes from `offset` on to `body` and returns its length; 0 at the end.
    package func read(
        from offset: Int, limit: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) -> Int {
        guard let file, offset < fileSize else {
            return memory.withUnsafeBytes { memory in
                let rest = memory[min(offset - fileSize, memory.count)...].prefix(limit)
                body(UnsafeRawBufferPointer(rebasing: rest))
                return rest.count
            }
        }
        var failure: SystemError?
        let length = withUnsafeTemporaryAllocation(byteCount: min(limit, fileSize - offset), alignment: 16) { buffer in
            while true {
                let count = pread(file, buffer.baseAddress, buffer.count, off_t(offset))
                if count > 0 {
                    body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    return count
                }
                if count < 0, errno == EINTR { continue }
                failure = SystemError(count < 0 ? errno : EIO)
                return 0
            }
        }
        if let failure { throw failure }
        return length
    }

    /// Appends to the file; leaves `fileSize` unchanged on failure.
    private func write(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> SystemError? {
        if file == nil { file = openNameless() }
        guard let file else { return .last }
        let total = first.count + second.count
        var offset = 0
        while offset < total {
            let rests = (first[min(offset, first.count)...], second[max(0, offset - first.count)...])
            let vectors = [iovec(rests.0), iovec(rests.1)]
            let count = pwritev(file, vectors, 2, off_t(fileSize + offset))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? .last : SystemError(ENOSPC) }
            offset += count
        }
        fileSize += total
        return nil
    }

    /// Falls back to a file that is unlinked at once if the file system does not support `O_TMPFILE`.
    private func openNameless() -> Int32? {
        let nameless = open(directory, Self.temporaryFile | O_RDWR | O_CLOEXEC | O_EXCL, 0o600)
        if nameless >= 0 { return nameless }
        var path = Array("\(directory)/flowrun-output-XXXXXX".utf8CString)
        let named = mkstemp(&path)
        guard named >= 0 else { return nil }
        unlink(path)
        _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        return named
    }

    /// `O_TMPFILE`, a macro that Swift cannot import.
    private static let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
}

extension iovec {
    /// Memory that is only read.
    fileprivate init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
