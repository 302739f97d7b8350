internal import CLinux

/// Removes a folder with all that is in it. No link is followed, no depth is too much, and permissions that are missing
/// are given first, because tools leave read-only folders behind.
///
/// Nobody else may change anything inside meanwhile.
package enum FolderRemoval {
    /// Removes what it can; throws the first reason for what is left. O(entries), and no memory.
    package static func remove(_ path: String) throws(SystemError) {
        let result = clinux_remove_folder(path)
        guard result == 0 else { throw SystemError(-result) }
    }

    /// Does the same if the path is a folder of this user and no link; otherwise does nothing.
    package static func removeOwn(_ path: String) { _ = clinux_remove_own_folder(path) }
}
