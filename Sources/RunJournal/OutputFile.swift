internal import Basics
internal import Glibc
internal import RunEvents

/// The file beside the journal with all that one attempt of a step has written, where that is too long for the journal
/// itself.
final class OutputFile: OutputSource, Sendable {
    private let descriptor: Int32

    init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Makes a file that does not exist yet.
    static func make(_ name: String, in folder: Int32) throws(SystemError) -> OutputFile {
        let file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        return OutputFile(descriptor: file)
    }

    static func existing(_ name: String, in folder: Int32) -> OutputFile? {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        return file < 0 ? nil : OutputFile(descriptor: file)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(offset + written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? .last : SystemError(ENOSPC) }
            written += count
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset + filled))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes it through to the disk.
    func sync() throws(SystemError) { if fdatasync(descriptor) != 0 { throw .last } }
}
