internal import Glibc

/// The folders of runs: `runs/20261121T121845-1f3a9c` in the state directory.
///
/// Each level is opened through the one above it and follows no link, and names are made of ids in their exact form
/// only, so that nothing outside of the state directory is ever reached.
extension StateDirectory {
    static let runsName = "runs"

    /// The folder of a new run.
    func makeRunFolder(_ run: String) throws(StateError) -> StateDirectory {
        let runs = try folder(Self.runsName, isMade: true)
        guard takeSpare(for: run, in: runs) || mkdirat(runs.descriptor, run, 0o700) == 0 else {
            throw StateError("\(runs.path)/\(run)", errno: errno)
        }
        return try runs.folder(run, isMade: false)
    }

    /// The folder of a run that has one; nil if the text is no run's name, or there is nothing to be trusted.
    func runFolder(_ run: String) -> StateDirectory? {
        guard RunID.isValid(run) else { return nil }
        return try? folder(Self.runsName, isMade: false).folder(run, isMade: false)
    }

    /// The ids of all runs that have a folder, in the order of their names.
    func runs() -> [String] {
        guard let runs = try? folder(Self.runsName, isMade: false) else { return [] }
        return runs.names().filter(RunID.isValid).sorted()
    }

    /// How many runs have a folder. It costs one look where the file system counts the folders in a folder as links to it,
    /// as ext4, XFS and tmpfs do, and a reading of the list elsewhere.
    var runCount: Int {
        var status = stat()
        guard fstatat(descriptor, Self.runsName, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return 0 }
        return Self.folderCount(status) ?? runs().count
    }

    /// Removes a run's folder with its files. What cannot be removed stays. `reusing` names a file that a later run needs
    /// as well: if it can be emptied, the folder is kept for that run.
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

    /// How many bytes the files in this folder take.
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
