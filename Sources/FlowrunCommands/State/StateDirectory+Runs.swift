internal import CLinux
internal import Glibc

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
