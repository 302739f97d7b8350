internal import Glibc

/// Removes a folder with all that is in it. No link is followed, no depth is too much, and permissions that are missing
/// are given first, because tools leave read-only folders behind.
///
/// Nobody else may change anything inside meanwhile.
package struct FolderRemoval {
    /// A name in a folder, with its NUL. Need not be UTF-8.
    private typealias Name = [CChar]

    private let root: Int32
    /// Folders that stand right below the root and are still to be emptied.
    private var pending: [Name] = []
    /// Names for folders that move up; counts on.
    private var number = 0
    private var failure: SystemError?

    /// Removes what it can; throws the first reason for what is left. O(entries), in memory that grows with the largest
    /// folder, not with the depth.
    package static func remove(_ path: String) throws(SystemError) {
        chmod(path, 0o700)
        let root = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard root >= 0 else { throw .last }
        defer { close(root) }
        var removal = FolderRemoval(root: root)
        removal.empty(root)
        while let name = removal.pending.popLast() { removal.remove(name) }
        guard rmdir(path) == 0 else { throw removal.failure ?? .last }
    }

    private init(root: Int32) { self.root = root }

    /// A folder right below the root.
    private mutating func remove(_ name: Name) {
        fchmodat(root, name, 0o700, 0)
        let folder = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { return note() }
        empty(folder)
        close(folder)
        if unlinkat(root, name, AT_REMOVEDIR) != 0 { note() }
    }

    /// Removes files, and moves folders up below the root, so that no path gets long and no recursion deep.
    private mutating func empty(_ folder: Int32) {
        for name in entries(of: folder) where unlinkat(folder, name, 0) != 0 {
            guard errno == EISDIR || errno == EPERM else {
                note()
                continue
            }
            if folder == root {
                pending.append(name)
            } else if unlinkat(folder, name, AT_REMOVEDIR) != 0 {
                moveUp(name, from: folder)
            }
        }
    }

    private mutating func moveUp(_ name: Name, from folder: Int32) {
        // To move a folder is to change its entry for the one above.
        fchmodat(folder, name, 0o700, 0)
        while true {
            number += 1
            let new = Array(".removed-\(number)".utf8CString)
            if renameat(folder, name, root, new) == 0 { return pending.append(new) }
            guard [EEXIST, ENOTEMPTY, ENOTDIR].contains(errno) else { return note() }
        }
    }

    /// Those that can be read.
    private mutating func entries(of folder: Int32) -> [Name] {
        // The stream closes its descriptor.
        let copy = fcntl(folder, F_DUPFD_CLOEXEC, 0)
        guard let stream = fdopendir(copy) else {
            note()
            if copy >= 0 { close(copy) }
            return []
        }
        defer { closedir(stream) }
        var names: [Name] = []
        do throws(SystemError) {
            while let entry = try FolderEntry.next(in: stream) {
                let name = Array(UnsafeBufferPointer(start: entry.name, count: strlen(entry.name) + 1))
                if name != [0x2E, 0] && name != [0x2E, 0x2E, 0] { names.append(name) }
            }
        } catch {
            failure = failure ?? error
        }
        return names
    }

    private mutating func note() { failure = failure ?? .last }
}
