internal import Basics
internal import CLinux
internal import Glibc

/// The folder that runs share: locks, the sockets of live runs, and the journals of the last ones.
///
/// It must be writable only for its owner, and must not be a link; otherwise another user could control a run.
/// Everything in it is reached through its descriptor, so that neither the length of its path nor a later rename
/// matters.
final class StateDirectory: Sendable {
    /// The path as the user named it.
    let path: String
    let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// The user whose folders are trusted.
    private static let user = geteuid()

    /// Opens an existing folder and changes nothing.
    static func existing(_ path: String) throws(StateError) -> StateDirectory {
        // With a slash at the end, `O_NOFOLLOW` would not apply to the last link.
        let path = trimmed(path)
        return try existing(path, open: open(path, folderFlags))
    }

    static var folderFlags: Int32 { O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC }

    /// Returns a folder that has just been opened. Throws if it could not be, or is not to be trusted.
    static func existing(_ path: String, open descriptor: Int32) throws(StateError) -> StateDirectory {
        guard descriptor >= 0 else { throw StateError(path, errno: errno) }
        let directory = StateDirectory(path: path, descriptor: descriptor)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw StateError(path, errno: errno) }
        guard status.st_uid == user else { throw StateError(path: path, reason: .foreign(owner: status.st_uid)) }
        guard status.st_mode & 0o022 == 0 else {
            throw StateError(path: path, reason: .writableByOthers)
        }
        return directory
    }

    /// Opens a folder for a run; makes it, and the folders above it, if it does not exist.
    static func made(_ path: String, isInProject: Bool = false) throws(StateError) -> StateDirectory {
        do {
            return try existing(path)
        } catch {
            guard error.isAbsence else { throw error }
        }
        let isNew = try makeFolder(trimmed(path))
        let directory = try existing(path)
        if isNew, isInProject { directory.hideFromOthers() }
        return directory
    }

    /// True if a path leads to this folder.
    func isSame(as path: String) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    /// Returns true if it was made now; another run may have been faster.
    private static func makeFolder(_ path: String) throws(StateError) -> Bool {
        if mkdir(path, 0o700) == 0 { return true }
        if errno == EEXIST { return false }
        guard errno == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else {
            throw StateError(path, errno: errno)
        }
        _ = try makeFolder(trimmed(String(path[..<slash])))
        guard mkdir(path, 0o700) != 0 else { return true }
        if errno == EEXIST { return false }
        throw StateError(path, errno: errno)
    }

    /// Excludes the folder from version control and backups. Written only once, so that a user can remove the files.
    private func hideFromOthers() {
        create(".gitignore", "*\n")
        create(
            "CACHEDIR.TAG",
            """
            Signature: 8a477f597d28d172789f06886806bc55
            # flowrun's state: locks, sockets and journals of runs. See https://bford.info/cachedir/

            """)
    }

    private func create(_ name: String, _ text: String) {
        let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard file >= 0 else { return }
        _ = text.withCString { write(file, $0, strlen($0)) }
        close(file)
    }

    private static func trimmed(_ path: String) -> String {
        var path = path[...]
        while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
        return String(path)
    }
}

/// The reason why a state directory cannot be used.
struct StateError: Error {
    enum Reason: Sendable, Hashable {
        case refused(errno: Int32)
        case foreign(owner: UInt32)
        case writableByOthers
    }

    let path: String
    let reason: Reason

    init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    init(_ path: String, errno: Int32) { self.init(path: path, reason: .refused(errno: errno)) }

    /// True if the folder does not exist.
    var isAbsence: Bool { reason == .refused(errno: ENOENT) }

    /// True if the folder exists and must not be trusted.
    var isUnsafe: Bool {
        switch reason {
        // The errors of `open` for a link to a folder.
        case .refused(let errno): errno == ENOTDIR || errno == ELOOP
        case .foreign, .writableByOthers: true
        }
    }

    /// The message in one line, in the form of a finding.
    var message: String {
        switch reason {
        case .refused(ENOTDIR), .refused(ELOOP):
            "the state directory `\(path)` is not a folder, or a link to one; name another one with --state-dir"
        case .refused(let errno):
            "cannot use the state directory `\(path)`: \(SystemError(errno).words)"
        case .foreign(let owner):
            """
            the state directory `\(path)` belongs to another user (uid \(owner)); name one of your own with \
            --state-dir
            """
        case .writableByOthers:
            "others may write into the state directory `\(path)`; take that away with `chmod go-w` first"
        }
    }
}

/// The state that all runs of a state directory share: the key of their digests, and the number of runs so far.
///
/// Both are in one file, so that a start needs only few calls: random bytes, their checksum, and then one byte per
/// run. The position of a run's byte, from 1, is its number: no two starts get the same one, and neither a clock nor
/// a damaged byte changes it.
extension StateDirectory {
    static let keyName = "key"
    private static let keySize = 16
    private static let headSize = keySize + MemoryLayout<UInt32>.size
    /// The most times that a start tries again after another one was faster.
    private static let tries = 100

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
            let file = openat(descriptor, Self.keyName, O_RDWR | O_APPEND | Self.safely)
            guard file >= 0 else {
                guard errno == ENOENT else { return nil }
                _ = makeKey(after: lastNumber) { temporary in
                    // The first of several runs that begin at once makes the file for all.
                    linkat(descriptor, temporary, descriptor, Self.keyName, 0) == 0 || errno == EEXIST
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
        let file = openat(descriptor, Self.keyName, O_RDONLY | Self.safely)
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
        guard fstat(damaged, &opened) == 0, fstatat(descriptor, Self.keyName, &named, AT_SYMLINK_NOFOLLOW) == 0,
            opened.st_ino == named.st_ino
        else { return true }
        let counted = Int(opened.st_size) - Self.headSize
        return makeKey(after: { max(counted, lastNumber()) }) { temporary in
            renameat(descriptor, temporary, descriptor, Self.keyName) == 0
        }
    }

    /// `publish` receives the name of the finished file.
    private func makeKey(after lastNumber: () -> Int, publish: (String) -> Bool) -> Bool {
        let temporary = "\(Self.keyName).\(getpid())~"
        let file = openat(descriptor, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return false }
        defer { unlinkat(descriptor, temporary, 0) }
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

/// flowrun's own files in a state directory: the key, the locks and the folders of runs. Other files may be in it as
/// well.
extension StateDirectory {
    /// True if writing to a path would change or create one of these, under any name and through any link. Hard links
    /// to files of runs are not checked, because there may be many files.
    func owns(_ path: String) -> Bool {
        var status = stat()
        if stat(path, &status) == 0, isOwn(status) { return true }
        guard let names = writtenPath(path)?.split(separator: "/"),
            let depth = names.indices.first(where: { isSame(as: "/" + names[..<$0].joined(separator: "/")) })
        else { return false }
        let name = String(names[depth])
        let isDirectlyInside = depth == names.count - 1
        return [Self.runsName, Self.sparesName].contains(name) || isDirectlyInside && Self.isOwn(name)
    }

    private static func isOwn(_ name: String) -> Bool { name == keyName || RunLock.isFileName(name) }

    private func isOwn(_ other: stat) -> Bool {
        names().contains { name in
            var status = stat()
            return Self.isOwn(name) && fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                && status.st_dev == other.st_dev && status.st_ino == other.st_ino
        }
    }
}

extension StateDirectory {
    /// Returns the time of a file's last change; zero if it does not exist.
    func lastChange(of name: String) -> Duration { WallClock.lastChange(of: name, in: descriptor) ?? .zero }

    /// Syncs everything to the disk by which a run's folder and its digests are found: the key, the list of runs, and
    /// the folders above this one, up to the root of its file system.
    func sync() throws(SystemError) {
        try sync(Self.keyName, O_RDONLY)
        try sync(Self.runsName, Self.folderFlags)
        try Self.sync(descriptor)
        try syncFoldersAbove()
    }

    /// Ignores a file that does not exist.
    private func sync(_ name: String, _ flags: Int32) throws(SystemError) {
        let file = openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return }
            throw .last
        }
        defer { close(file) }
        try Self.sync(file)
    }

    private static func sync(_ file: Int32) throws(SystemError) { if fsync(file) != 0 { throw .last } }

    /// Stops at a folder that cannot be read, because flowrun has not made it.
    private func syncFoldersAbove() throws(SystemError) {
        var (below, status) = (stat(), stat())
        guard fstat(descriptor, &below) == 0 else { throw .last }
        var path = ".."
        while true {
            let folder = openat(descriptor, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { return }
            defer { close(folder) }
            guard fstat(folder, &status) == 0, status.st_dev == below.st_dev, status.st_ino != below.st_ino else {
                return
            }
            try Self.sync(folder)
            below = status
            path += "/.."
        }
    }
}
