internal import Glibc

extension StateDirectory {
    static let keyName = "key"
    private static let keySize = 16

    /// Random bytes that belong to this folder, made at the first call. Nil if they can neither be read nor made.
    package func key() -> [UInt8]? {
        if let known = readKey() { return known }
        let temporary = "\(Self.keyName).\(getpid())~"
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return nil }
        let bytes = (0..<Self.keySize).map { _ in UInt8.random(in: .min ... .max) }
        let count = write(file, bytes, bytes.count)
        close(file)
        defer { unlinkat(descriptor, temporary, 0) }
        guard count == bytes.count else { return nil }
        // Of several runs that begin at once the first one makes it for all.
        if linkat(descriptor, temporary, descriptor, Self.keyName, 0) == 0 { return bytes }
        return readKey()
    }

    private func readKey() -> [UInt8]? {
        let file = openat(descriptor, Self.keyName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: Self.keySize)
        let count = read(file, &bytes, bytes.count)
        // What cannot be read now may be read by the next run, which needs it to know its digests again.
        if (0..<bytes.count).contains(count) { unlinkat(descriptor, Self.keyName, 0) }
        return count == bytes.count ? bytes : nil
    }
}
