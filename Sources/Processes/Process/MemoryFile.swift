package import Basics
internal import CLinux
internal import Glibc

/// Bytes as a file without a name that takes no disk, such as the standard input of a step. No pipe has to be fed,
/// and a step that does not read it all causes no SIGPIPE.
package final class MemoryFile: Sendable {
    let descriptor: Int32

    /// Throws if the machine has no descriptor or no memory left.
    package init(_ bytes: [UInt8]) throws(SystemError) {
        descriptor = bytes.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
        guard descriptor >= 0 else { throw .last }
    }

    /// Lets other processes of this user open the file while this object lives, and with it see everything that this
    /// process holds. Returns the path under which they find it.
    package func publish() -> String {
        clinux_show()
        return "/proc/\(getpid())/fd/\(descriptor)"
    }

    /// Returns the present contents of the file from an offset on, at most `limit` bytes.
    package func bytes(from offset: Int, limit: Int) -> [UInt8] {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return [] }
        let count = min(Int(status.st_size) - offset, limit)
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = max(pread(descriptor, buffer.baseAddress, count, off_t(offset)), 0)
        }
    }

    deinit { close(descriptor) }
}
