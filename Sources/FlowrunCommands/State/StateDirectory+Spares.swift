internal import CLinux
internal import Glibc

/// Folders of removed runs, kept for new ones: to rename a folder with its file costs less than to remove it and make
/// another, above all on ext4, which passes over all inodes that were freed lately when it makes a file.
extension StateDirectory {
    static let sparesName = "spare"
    private static let sparesKept = 16
    /// A longer file may still be read by somebody, piece by piece.
    private static let emptiedSize = 64 << 10

    /// Makes a spare the folder of a new run. Returns false where there is none.
    func takeSpare(for run: String, in runs: StateDirectory) -> Bool {
        guard let spares = try? folder(Self.sparesName, isMade: false), let count = spares.folderCount, count > 0 else {
            return false
        }
        return rename("\(count)", of: spares, to: run, of: runs)
    }

    /// Makes a run's folder a spare. Returns false where there are enough.
    func keepSpare(_ run: String, in runs: StateDirectory) -> Bool {
        guard let spares = try? folder(Self.sparesName, isMade: true), let count = spares.folderCount,
            count < Self.sparesKept
        else { return false }
        return rename(run, of: runs, to: "\(count + 1)", of: spares)
    }

    /// Cuts a file to nothing. Returns false if it is not a regular file, is too long, or has another name as well.
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

    /// Of the links to a folder two are its own, where the file system counts those of the folders in it; nil elsewhere.
    static func folderCount(_ status: stat) -> Int? { status.st_nlink >= 2 ? Int(status.st_nlink) - 2 : nil }

    private var folderCount: Int? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Self.folderCount(status) : nil
    }

    /// Replaces nothing.
    private func rename(_ name: String, of folder: StateDirectory, to newName: String, of other: StateDirectory) -> Bool
    {
        clinux_rename_new(folder.descriptor, name, other.descriptor, newName) == 0
    }
}
