internal import Basics
internal import Glibc

/// The folder that runs share: locks, the sockets of live runs, and the journals of the last ones.
///
/// Only its owner may write into it, and the folder itself is no link: otherwise somebody else could steer a run.
/// Everything in it is reached through its descriptor, so neither the length of its path matters nor a later rename.
final class StateDirectory: Sendable {
    /// As it was named.
    let path: String
    let descriptor: Int32

    private init(path: String, descriptor: Int32) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whose folders are to be trusted.
    private static let user = geteuid()

    /// Opens an existing folder and changes nothing.
    static func existing(_ path: String) throws(StateError) -> StateDirectory {
        // A slash at its end would make `O_NOFOLLOW` look behind a link.
        let path = trimmed(path)
        return try existing(path, open: open(path, folderFlags))
    }

    static var folderFlags: Int32 { O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC }

    /// What has just been opened, or could not be, if it is to be trusted.
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

    /// Whether a path leads to this folder.
    func isSame(as path: String) -> Bool {
        var (own, other) = (stat(), stat())
        guard fstat(descriptor, &own) == 0, stat(path, &other) == 0 else { return false }
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    /// Returns whether it was made now; another run may have been faster.
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

    /// Keeps version control and backups away. Written once: whoever removes the files does not want them.
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

/// Why a state directory cannot be used.
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

    /// Whether there simply is none.
    var isAbsence: Bool { reason == .refused(errno: ENOENT) }

    /// Whether the folder is there and must not be trusted.
    var isUnsafe: Bool {
        switch reason {
        // What `open` says of a link to a folder.
        case .refused(let errno): errno == ENOTDIR || errno == ELOOP
        case .foreign, .writableByOthers: true
        }
    }

    /// One line, in the form of a finding.
    var message: String {
        switch reason {
        case .refused(ENOTDIR), .refused(ELOOP):
            "the state directory `\(path)` is not a folder, or a link to one; name another one with --state-dir"
        case .refused(let errno):
            "cannot use the state directory `\(path)`: \(SystemError(errno).words)"
        case .foreign(let owner):
            "the state directory `\(path)` belongs to another user (uid \(owner)); name one of your own with --state-dir"
        case .writableByOthers:
            "others may write into the state directory `\(path)`; take that away with `chmod go-w` first"
        }
    }
}
