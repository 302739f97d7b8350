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

/// The folders of runs: `runs/20261121T121845-1f3a9c` in the state directory.
///
/// Each level is opened relative to the one above and follows no link, and names are made only of valid ids, so that
/// nothing outside of the state directory is ever reached.
extension StateDirectory {
    static let runsName = "runs"

    /// Makes the folder of a new run.
    func makeRunFolder(_ run: String) throws(StateError) -> StateDirectory {
        let runs = try folder(Self.runsName, isMade: true)
        guard takeSpare(for: run, in: runs) || mkdirat(runs.descriptor, run, 0o700) == 0 else {
            throw StateError("\(runs.path)/\(run)", errno: errno)
        }
        return try runs.folder(run, isMade: false)
    }

    /// Returns the folder of a run; nil if the text is no id, or if the folder does not exist or is not to be
    /// trusted.
    func runFolder(_ run: String) -> StateDirectory? {
        guard RunID.isValid(run) else { return nil }
        return try? folder(Self.runsName, isMade: false).folder(run, isMade: false)
    }

    /// Returns the ids of all runs that have a folder, in the order of their names.
    func runs() -> [String] {
        guard let runs = try? folder(Self.runsName, isMade: false) else { return [] }
        return runs.names().filter(RunID.isValid).sorted()
    }

    /// The number of runs that have a folder. O(1) if the file system counts subfolders as links to the folder, as
    /// ext4, XFS and tmpfs do; otherwise the folder has to be read.
    var runCount: Int {
        var status = stat()
        guard fstatat(descriptor, Self.runsName, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        return Self.folderCount(status) ?? runs().count
    }

    /// Removes a run's folder with its files. Files that cannot be removed remain. `reusing` names a file that a
    /// later run needs as well: if it can be emptied, the folder is kept for that run.
    func removeRun(_ run: String, reusing file: String? = nil) {
        guard let folder = runFolder(run), let runs = try? self.folder(Self.runsName, isMade: false) else { return }
        var isBare = true
        for name in folder.names() where name != "." && name != ".." && name != file {
            isBare = unlinkat(folder.descriptor, name, 0) == 0 && isBare
        }
        if let file {
            if isBare, folder.empty(file), keepSpare(run, in: runs) { return }
            unlinkat(folder.descriptor, file, 0)
        }
        unlinkat(runs.descriptor, run, AT_REMOVEDIR)
    }

    /// Returns the size of the files in this folder, in bytes.
    func size() -> Int {
        names().reduce(0) { sum, name in
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return sum }
            return status.st_mode & S_IFMT == S_IFREG ? sum + Int(status.st_size) : sum
        }
    }

    func folder(_ name: String, isMade: Bool) throws(StateError) -> StateDirectory {
        let path = "\(path)/\(name)"
        let existing = openat(descriptor, name, Self.folderFlags)
        guard existing < 0, errno == ENOENT, isMade else { return try Self.existing(path, open: existing) }
        if mkdirat(descriptor, name, 0o700) != 0, errno != EEXIST { throw StateError(path, errno: errno) }
        return try Self.existing(path, open: openat(descriptor, name, Self.folderFlags))
    }
}

/// Folders of removed runs, kept for new ones. Renaming a folder with its file costs less than removing it and making
/// another, above all on ext4, which skips all recently freed inodes when it makes a file.
extension StateDirectory {
    static let sparesName = "spare"
    private static let sparesKept = 16
    /// A longer file may still be in use by a reader.
    private static let emptiedSize = 64 << 10

    /// Makes a spare the folder of a new run. Returns false if there is none.
    func takeSpare(for run: String, in runs: StateDirectory) -> Bool {
        guard let spares = try? folder(Self.sparesName, isMade: false), let count = spares.folderCount, count > 0 else {
            return false
        }
        return rename("\(count)", of: spares, to: run, of: runs)
    }

    /// Makes a run's folder a spare. Returns false if there are enough.
    func keepSpare(_ run: String, in runs: StateDirectory) -> Bool {
        guard let spares = try? folder(Self.sparesName, isMade: true), let count = spares.folderCount,
            count < Self.sparesKept
        else { return false }
        return rename(run, of: runs, to: "\(count + 1)", of: spares)
    }

    /// Truncates a file to zero bytes. Returns false if it is not a regular file, is too long, or has another hard
    /// link.
    func empty(_ name: String) -> Bool {
        let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1,
            status.st_size <= Self.emptiedSize
        else { return false }
        return ftruncate(file, 0) == 0
    }

    /// Returns the number of subfolders: all links to a folder but two. nil if the file system does not count
    /// subfolders as links.
    static func folderCount(_ status: stat) -> Int? { status.st_nlink >= 2 ? Int(status.st_nlink) - 2 : nil }

    private var folderCount: Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Self.folderCount(status) : nil
    }

    /// Renames a folder; replaces nothing.
    private func rename(_ name: String, of folder: StateDirectory, to newName: String, of other: StateDirectory) -> Bool
    {
        clinux_rename_new(folder.descriptor, name, other.descriptor, newName) == 0
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
        let folders = [Self.runsName, Self.sparesName, TreeCopyFolders.name]
        return folders.contains(name) || isDirectlyInside && Self.isOwn(name)
    }

    private static func isOwn(_ name: String) -> Bool { name == StateRegister.fileName || RunLock.isFileName(name) }

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
        try sync(StateRegister.fileName, O_RDONLY)
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
