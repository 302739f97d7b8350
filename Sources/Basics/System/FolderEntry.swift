internal import Glibc

/// An entry of a folder, as it is read. Nothing is copied.
package struct FolderEntry {
    /// What the file system says without a further look; `other` may be anything.
    package enum Kind {
        case file, folder, link, other
    }

    /// With a NUL behind it, and good until the next entry is read. Need not be UTF-8; may be `.` or `..`.
    package let name: UnsafePointer<CChar>
    package let kind: Kind

    private static let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name).unsafelyUnwrapped

    /// The next one of a stream that `opendir` has opened; nil at the end.
    package static func next(in stream: OpaquePointer) throws(SystemError) -> FolderEntry? {
        // The end of the folder and an error differ in this alone.
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
