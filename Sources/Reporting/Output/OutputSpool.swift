internal import Glibc

/// Keeps what a step writes until it can be shown: the first part in memory, more than that in a file that has no name,
/// so that no end of flowrun leaves it behind.
package final class OutputSpool {
    /// Bytes kept in memory, and written to the file at a time.
    private static let memoryLimit = 32 * 1024

    private let directory: String
    private var memory: [UInt8] = []
    private var file: Int32?
    private var fileSize = 0
    /// Why the file could not be made, written or read; everything since then was let go.
    package private(set) var failure: Int32?
    /// Bytes let go after a failure.
    package private(set) var lost = 0

    /// `directory` is where the file is made once it is needed.
    package init(directory: String) {
        self.directory = directory
    }

    deinit {
        if let file { close(file) }
    }

    package func append(_ bytes: [UInt8]) {
        if failure == nil, memory.count + bytes.count > Self.memoryLimit { spill() }
        if failure == nil, bytes.count <= Self.memoryLimit {
            memory.append(contentsOf: bytes)
        } else if !write(bytes) {
            lost += bytes.count
        }
    }

    /// Hands out everything in order, at most 64 KiB at a time.
    package func forEachChunk(_ body: (UnsafeRawBufferPointer) -> Void) {
        if let file {
            withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 16) { buffer in
                var offset = 0
                while offset < fileSize {
                    let count = pread(file, buffer.baseAddress, min(buffer.count, fileSize - offset), off_t(offset))
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else {
                        failure = count < 0 ? errno : EIO
                        lost += fileSize - offset
                        return
                    }
                    body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    offset += count
                }
            }
        }
        memory.withUnsafeBytes(body)
    }

    /// Moves the memory's part to the file; on failure both stay as they are.
    private func spill() {
        guard !memory.isEmpty, write(memory) else { return }
        memory.removeAll(keepingCapacity: true)
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        guard failure == nil, let file = openedFile() else { return false }
        let written = bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = pwrite(
                    file, bytes.baseAddress! + offset, bytes.count - offset, off_t(fileSize + offset))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
        if written { fileSize += bytes.count } else { failure = errno }
        return written
    }

    private func openedFile() -> Int32? {
        if file == nil { file = openNameless() }
        if file == nil { failure = errno }
        return file
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
