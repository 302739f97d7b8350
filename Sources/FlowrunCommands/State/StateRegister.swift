internal import Basics
internal import Glibc

/// The state that all runs of a state directory share: the key of their digests, and the number of runs so far.
///
/// Both are in one file, so that a start needs only few calls: random bytes, their checksum, and then one byte per
/// run. The position of a run's byte, from 1, is its number: no two starts get the same one, and neither a clock nor
/// a damaged byte changes it.
struct StateRegister {
    static let fileName = "key"
    private static let keySize = 16
    private static let headSize = keySize + MemoryLayout<UInt32>.size
    /// The most times that a start tries again after another one was faster.
    private static let tries = 100

    private let directory: StateDirectory
    private var folder: Int32 { directory.descriptor }

    init(in directory: StateDirectory) { self.directory = directory }

    /// The key and the number that a run gets when it begins.
    struct Entry: Sendable, Equatable {
        /// Random bytes that belong to this folder.
        let key: [UInt8]
        /// Larger than the number of every run that began earlier in this folder.
        let number: Int
    }

    /// Registers a run. If the file is missing or damaged and has to be made, calls `lastNumber` for the largest
    /// known number of a run. Returns nil if the file can be neither read nor made.
    func enter(after lastNumber: () -> Int) -> Entry? {
        for _ in 0..<Self.tries {
            let file = openat(folder, Self.fileName, O_RDWR | O_APPEND | Self.safely)
            guard file >= 0 else {
                guard errno == ENOENT else { return nil }
                _ = makeKey(after: lastNumber) { temporary in
                    // The first of several runs that begin at once makes the file for all.
                    linkat(folder, temporary, folder, Self.fileName, 0) == 0 || errno == EEXIST
                }
                continue
            }
            defer { close(file) }
            let head = Self.readHead(file)
            // An unreadable file is kept: the next run may be able to read it, and needs it to recognise its digests.
            guard let head else { return nil }
            if let key = Self.key(in: head) {
                // A version without numbers wrote only the key.
                let rest = head.count == Self.keySize ? Self.sum(of: key) : []
                return Entry(key: key, number: Self.append(rest + [0], to: file) - Self.headSize)
            }
            guard replaceKey(file, after: lastNumber) else { return nil }
        }
        return nil
    }

    /// Returns the key alone, for a command that changes nothing; nil if there is none, or if it is damaged.
    func existingKey() -> [UInt8]? {
        let file = openat(folder, Self.fileName, O_RDONLY | Self.safely)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return Self.readHead(file).flatMap(Self.key)
    }

    private static var safely: Int32 { O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC }

    /// Returns the head, which may be short; nil if it cannot be read.
    private static func readHead(_ file: Int32) -> [UInt8]? {
        var head = [UInt8](repeating: 0, count: headSize)
        let count = read(file, &head, headSize)
        return count < 0 ? nil : Array(head[..<count])
    }

    private static func key(in head: [UInt8]) -> [UInt8]? {
        let key = Array(head.prefix(keySize))
        guard key.count == keySize, head.count == keySize || head[keySize...].elementsEqual(sum(of: key)) else {
            return nil
        }
        return key
    }

    private static func sum(of key: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: key.withUnsafeBytes(CRC32C.of).littleEndian, Array.init)
    }

    /// Returns the end of the file after the append.
    private static func append(_ bytes: [UInt8], to file: Int32) -> Int {
        // On a full disk the next run gets the same number; it cannot keep a journal either.
        guard write(file, bytes, bytes.count) == bytes.count else { return Int(lseek(file, 0, SEEK_END)) + bytes.count }
        return Int(lseek(file, 0, SEEK_CUR))
    }

    /// Replaces a damaged file, unless another run does so. Returns false if it cannot.
    private func replaceKey(_ damaged: Int32, after lastNumber: () -> Int) -> Bool {
        guard flock(damaged, LOCK_EX) == 0 else { return false }
        var (opened, named) = (stat(), stat())
        guard fstat(damaged, &opened) == 0, fstatat(folder, Self.fileName, &named, AT_SYMLINK_NOFOLLOW) == 0,
            opened.st_ino == named.st_ino
        else { return true }
        let counted = Int(opened.st_size) - Self.headSize
        return makeKey(after: { max(counted, lastNumber()) }) { temporary in
            renameat(folder, temporary, folder, Self.fileName) == 0
        }
    }

    /// `publish` receives the name of the finished file.
    private func makeKey(after lastNumber: () -> Int, publish: (String) -> Bool) -> Bool {
        let temporary = "\(Self.fileName).\(getpid())~"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { unlinkat(folder, temporary, 0) }
        let key = (0..<Self.keySize).map { _ in UInt8.random(in: .min ... .max) }
        let head = key + Self.sum(of: key)
        let last = lastNumber()
        let isWritten =
            write(file, head, head.count) == head.count
            && (last <= 0 || ftruncate(file, off_t(head.count + last)) == 0)
        close(file)
        return isWritten && publish(temporary)
    }
}
