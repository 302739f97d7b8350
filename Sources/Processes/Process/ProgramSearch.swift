internal import Glibc

/// Returns the path of a program along a PATH, as exec will find it from the working directory; nil is flowrun's own.
/// A name with a slash is returned as it is. Throws ENOENT if no folder of the PATH holds the program, EACCES if one
/// does but it may not be run.
///
/// Nothing is cached here: a step may have put the program there, or removed it. One system call for each folder, and
/// one more for the program.
package func findProgram(
    _ name: String, along path: String?, from workingDirectory: String?
) throws(SpawnError) -> String {
    if name.utf8.contains(UInt8(ascii: "/")) { return name }
    // The default of exec if PATH is not set.
    var (name, path) = (name, path ?? "/bin:/usr/bin")
    var error = ENOENT
    let size = (workingDirectory?.utf8.count ?? 0) + path.utf8.count + name.utf8.count + 4
    let found = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { buffer -> String? in
        var candidate = CandidatePath(buffer, from: workingDirectory)
        // Plain memory: reading strings byte by byte costs as much as the system calls.
        return name.withUTF8 { name in
            path.withUTF8 { path in
                var rest = path[...]
                while !name.isEmpty {
                    let folder = rest.prefix { $0 != UInt8(ascii: ":") }
                    candidate.set(UnsafeBufferPointer(rebasing: folder), name)
                    if candidate.isProgram(&error) { return candidate.text }
                    guard folder.endIndex != rest.endIndex else { break }
                    rest = rest[(folder.endIndex + 1)...]
                }
                return nil
            }
        }
    }
    guard let found else { throw SpawnError(errno: error, subject: .searchPath) }
    return found
}

/// The path that is tried, in bytes that all folders of a PATH share: a search allocates text only for its result.
private struct CandidatePath {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    /// The length of the prefix of a relative folder: the working directory and a slash.
    private var base = 0
    private var start = 0
    private var end = 0

    init(_ bytes: UnsafeMutableBufferPointer<UInt8>, from workingDirectory: String?) {
        self.bytes = bytes
        guard let workingDirectory else { return }
        append(workingDirectory.utf8)
        append(CollectionOfOne(Self.slash))
        base = end
    }

    /// Moves on to the next folder; an empty one is the working directory.
    mutating func set(_ folder: UnsafeBufferPointer<UInt8>, _ name: UnsafeBufferPointer<UInt8>) {
        // An absolute folder is written after the working directory too, which the next one may need.
        start = folder.first == Self.slash ? base : 0
        end = base
        if folder.isEmpty { append(CollectionOfOne(UInt8(ascii: "."))) } else { append(folder) }
        append(CollectionOfOne(Self.slash))
        append(name)
        bytes[end] = 0
    }

    private mutating func append(_ text: some Collection<UInt8>) {
        end = bytes[end...].initialize(fromContentsOf: text)
    }

    /// Returns true if it is a file that may be run. Sets `error` to EACCES if there is one that may not.
    func isProgram(_ error: inout Int32) -> Bool {
        let path = UnsafeRawPointer(bytes.baseAddress! + start).assumingMemoryBound(to: CChar.self)
        guard access(path, X_OK) == 0 else {
            if errno == EACCES { error = EACCES }
            return false
        }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The path as read from the working directory.
    var text: String { String(decoding: bytes[base..<end], as: UTF8.self) }

    private static var slash: UInt8 { UInt8(ascii: "/") }
}
