internal import Basics
internal import CLinux
internal import Glibc

extension StateDirectory {
    /// When a file changed last; zero if it does not exist.
    func lastChange(of name: String) -> Duration { WallClock.lastChange(of: name, in: descriptor) ?? .zero }

    /// Writes through to the disk what a run's folder and its digests are found by: the key, the list of runs, and the
    /// way to this folder, down from the root of its file system.
    func sync() throws(SystemError) {
        try sync(Self.keyName, O_RDONLY)
        try sync(Self.runsName, Self.folderFlags)
        try Self.sync(descriptor)
        try syncFoldersAbove()
    }

    /// What is not there need not be on the disk.
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

    /// One that may not be read was not made by flowrun.
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
