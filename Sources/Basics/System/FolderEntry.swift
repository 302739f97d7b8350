internal import CLinux
internal import Glibc

/// An entry of an open folder. Nothing is copied.
package struct FolderEntry {
    /// The type that readdir(3) reports without stat(2); `other` may be anything.
    package enum Kind {
        case file, folder, link, other
    }

    /// Ends with a NUL and is valid until the next entry is read. Need not be UTF-8; may be `.` or `..`.
    package let name: UnsafePointer<CChar>
    package let kind: Kind

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped

    /// Returns the next entry of a stream opened by `opendir`; nil at the end.
    package static func next(in stream: OpaquePointer) throws(SystemError) -> FolderEntry? {
        // Only `errno` distinguishes the end of the folder from an error.
        errno = 0
        guard let entry = readdir(stream) else {
            let error = errno
            guard error == 0 else { throw SystemError(error) }
            return nil
        }
        let kind: Kind =
            switch Int(entry.pointee.d_type) {
            case Int(DT_REG): .file
            case Int(DT_DIR): .folder
            case Int(DT_LNK): .link
            default: .other
            }
        let name = UnsafeRawPointer(entry) + nameOffset
        return FolderEntry(name: name.assumingMemoryBound(to: CChar.self), kind: kind)
    }
}

/// Removes a folder with its content. Follows no link and has no limit of depth. Grants itself missing permissions
/// first, because tools leave read-only folders behind.
///
/// No other process may change the content meanwhile.
package enum FolderRemoval {
    /// Removes as much as possible and throws the first error for what is left. O(entries), without allocating
    /// memory.
    package static func remove(_ path: String) throws(SystemError) {
        let result = clinux_remove_folder(path)
        guard result == 0 else { throw SystemError(-result) }
    }

    /// Removes the path if it is a folder of this user and no link; otherwise does nothing.
    package static func removeOwn(_ path: String) { _ = clinux_remove_own_folder(path) }
}
