internal import Basics
internal import Glibc
internal import RunLog
internal import Running

/// The copies of the tree in which isolated groups run: in `trees/RUN` of the state directory, where RUN is the first
/// of the runs that resume each other, so that the paths in a copy stay as they are.
///
/// What a run has kept stays as long as `--resume` would go on from that run; the file `.run` names the last run that
/// used it.
struct TreeFolders {
    static let name = "trees"
    private static let lastRunName = ".run"

    private let directory: StateDirectory
    private let folders: StateDirectory

    /// Returns nil if there are none; with `isMade`, makes their folder.
    init?(in directory: StateDirectory, isMade: Bool = false) throws(StateError) {
        do {
            folders = try directory.folder(Self.name, isMade: isMade)
        } catch {
            guard error.isAbsence else { throw error }
            return nil
        }
        self.directory = directory
    }

    /// The copies that the runs from `origin` on have kept, if any; makes nothing.
    static func trees(of origin: String, in directory: StateDirectory) -> RunTrees {
        RunTrees(in: "\(directory.path)/\(name)/\(origin)", state: directory.path)
    }

    /// Makes the folder for the copies of a run. `origin` is the first of the runs that it resumes, or itself.
    func make(for run: String, origin: String) throws(StateError) -> RunTrees {
        let folder = try folders.folder(origin, isMade: true)
        let file = openat(
            folder.descriptor, Self.lastRunName, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StateError("\(folder.path)/\(Self.lastRunName)", errno: errno) }
        defer { close(file) }
        guard run.withCString({ write(file, $0, strlen($0)) }) == run.utf8.count else {
            throw StateError("\(folder.path)/\(Self.lastRunName)", errno: errno)
        }
        guard let path = resolvedPath(folder.path), let state = resolvedPath(directory.path) else {
            throw StateError(folder.path, errno: errno)
        }
        return RunTrees(in: path, state: state)
    }

    /// Removes the copies of runs whose folder is gone, and of the ended ones that `isSuperseded` names.
    func removeOld(where isSuperseded: (_ lastRun: String) -> Bool = { _ in false }) {
        for origin in folders.names() where RunID.isValid(origin) {
            let last = lastRun(of: origin) ?? origin
            guard directory.runFolder(last) == nil || isSuperseded(last) else { continue }
            FolderRemoval.removeOwn("\(folders.path)/\(origin)")
        }
    }

    /// Removes the folder of a run's copies if none is left in it.
    func removeIfEmpty(_ origin: String) {
        guard let folder = try? folders.folder(origin, isMade: false),
            folder.names().allSatisfy({ [".", "..", Self.lastRunName].contains($0) })
        else { return }
        unlinkat(folder.descriptor, Self.lastRunName, 0)
        unlinkat(folders.descriptor, origin, AT_REMOVEDIR)
    }

    private func lastRun(of origin: String) -> String? {
        guard let folder = try? folders.folder(origin, isMade: false) else { return nil }
        let file = openat(folder.descriptor, Self.lastRunName, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        let run = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        return RunID.isValid(run) ? run : nil
    }
}
