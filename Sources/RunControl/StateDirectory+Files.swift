internal import CLinux
internal import Glibc

extension StateDirectory {
    /// Puts a file in the place of whatever has that name: a reader sees the old one, for a moment none, then the new
    /// one, each whole. Replacing in one step would make ext4 write the new one out at once, for a millisecond or more.
    /// Returns the error number if that fails.
    package func replace(_ name: String, with bytes: [UInt8]) -> Int32? {
        let temporary = "\(name).\(getpid())~"
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return errno }
        var error = write(bytes, to: file)
        close(file)
        if error == nil { unlinkat(descriptor, name, 0) }
        if error == nil, renameat(descriptor, temporary, descriptor, name) != 0 { error = errno }
        if error != nil { unlinkat(descriptor, temporary, 0) }
        return error
    }

    private func write(_ bytes: [UInt8], to file: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Glibc.write(file, bytes.baseAddress! + offset, bytes.count - offset)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return errno }
                offset += count
            }
            return nil
        }
    }

    /// When a file changed last; zero if it does not exist.
    package func lastChange(of name: String) -> Duration {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .zero }
        return .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }

    /// All of a file; nil if it does not exist or cannot be read.
    package func contents(of name: String) -> [UInt8]? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }
}
