package import Basics
internal import Glibc

/// Keeps what a step writes until it can be shown: while it is small in memory, then in a file that has no name, so
/// that no end of flowrun leaves it behind.
package final class OutputSpool {
    /// Bytes kept in memory, and written to the file at a time.
    private static let memoryLimit = 32 * 1024

    private let directory: String
    private var memory: [UInt8] = []
    private var file: Int32?
    private var fileSize = 0

    /// `directory` is where the file is made once it is needed.
    package init(directory: String) {
        self.directory = directory
    }

    deinit {
        if let file { close(file) }
    }

    /// Whether everything is in memory.
    package var isSmall: Bool { file == nil }

    package var count: Int { fileSize + memory.count }

    /// Throws where the file cannot be made or written: then nothing of `bytes` is kept, and all that was kept before
    /// still is.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        if memory.count + bytes.count <= Self.memoryLimit {
            memory.append(contentsOf: bytes)
            return
        }
        // The file grows in even pieces, which costs a file system much less.
        let even = (memory.count + bytes.count) / Self.memoryLimit * Self.memoryLimit - memory.count
        let failure = memory.withUnsafeBytes { write($0, UnsafeRawBufferPointer(rebasing: bytes[..<even])) }
        if let failure { throw failure }
        memory.removeAll(keepingCapacity: true)
        memory.append(contentsOf: bytes[even...])
    }

    /// Hands out a piece that begins at `offset`, at most `limit` bytes, and returns its length; 0 at the end.
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

    /// Adds to the file; on failure it is as before.
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

    /// Not every file system knows `O_TMPFILE`; elsewhere the name lives for an instant.
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

    /// `O_TMPFILE`, a macro too elaborate for Swift to import.
    private static let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
}

extension iovec {
    /// Memory that is only read.
    fileprivate init(_ bytes: Slice<UnsafeRawBufferPointer>) {
        let bytes = UnsafeRawBufferPointer(rebasing: bytes)
        self.init(iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
    }
}
