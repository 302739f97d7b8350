internal import Glibc

/// One hash over files: their names and their contents, in the order of their names.
enum FileHash {
    /// A file that could not be read, and why.
    struct Unreadable: Error {
        let path: String
        let reason: String
    }

    /// The empty text where nothing matches, so that a condition can tell.
    static func hash(_ patterns: [String], in folder: String) throws(Unreadable) -> String {
        let files = Set(patterns.flatMap { FilePattern($0).files(in: folder) })
        guard !files.isEmpty else { return "" }
        var hash = SHA256()
        for file in files.sorted(by: { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }) {
            var contents = SHA256()
            try read(file.hasPrefix("/") ? file : "\(folder)/\(file)") { contents.update($0) }
            hash.update("\(file)\0\(contents.finish())\0".utf8)
        }
        return hash.finish()
    }

    private static func read(_ path: String, _ body: (UnsafeRawBufferPointer) -> Void) throws(Unreadable) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Unreadable(path: path, reason: String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var failure: Int32?
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while true {
                let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = errno }
                guard count > 0 else { return }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
        if let failure { throw Unreadable(path: path, reason: String(cString: strerror(failure))) }
    }
}
