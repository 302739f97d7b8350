internal import Basics
internal import Glibc
internal import RunLog
internal import Running

/// The copies of the tree in which isolated groups run: `trees/RUN/GROUP` in the state directory, where RUN is the
/// first of the runs that resume each other, so that the paths in a copy stay as they are.
struct TreeCopyFolders {
    static let name = "trees"

    private let directory: StateDirectory
    private let folders: StateDirectory

    /// Returns nil if there are none.
    static func existing(in directory: StateDirectory) -> TreeCopyFolders? {
        (try? directory.folder(name, isMade: false)).map { TreeCopyFolders(directory: directory, folders: $0) }
    }

    /// The place for the copies of the runs that resume `origin`, if they outlive a run; nil if the state directory is
    /// gone.
    static func place(of origin: String, in directory: StateDirectory, outlivingRun isKept: Bool) -> TreeCopies? {
        resolvedPath(directory.path).map { TreeCopies(in: isKept ? "\($0)/\(name)/\(origin)" : nil, state: $0) }
    }

    /// Removes each copy whose last user has no folder any more, or is one that `isSuperseded` names.
    func removeOld(where isSuperseded: (_ lastUser: String) -> Bool = { _ in false }) {
        for origin in folders.names() where RunID.isValid(origin) {
            guard let folder = try? folders.folder(origin, isMade: false) else { continue }
            var isEmpty = true
            for name in folder.names() where name != "." && name != ".." {
                let path = "\(folder.path)/\(name)"
                // What has no such record is the rest of one that was being made or removed.
                let copy = TreeCopy(at: path)
                let last = copy.record?.user ?? origin
                if directory.runFolder(last) == nil || isSuperseded(last) {
                    // A run that is killed meanwhile leaves nothing that a resume takes for a copy.
                    if let rest = try? copy.takeAway() { FolderRemoval.removeOwn(rest) }
                } else {
                    isEmpty = false
                }
            }
            if isEmpty { unlinkat(folders.descriptor, origin, AT_REMOVEDIR) }
        }
    }
}
