internal import Glibc

/// Finds programs along a PATH, once per name and PATH.
package struct ProgramFinder {
    // By name and PATH in one: a type of its own as the key would cost a small run more than the whole search.
    private var found: [String: String] = [:]

    package init() {}

    /// Where the program stands. A name with a slash is taken as it is. Throws ENOENT where no folder of the PATH holds
    /// it, EACCES where one does that may not be run.
    package mutating func find(_ name: String, path: String?) throws(SpawnError) -> String {
        if name.utf8.contains(UInt8(ascii: "/")) { return name }
        // What exec falls back to where PATH is not set.
        let path = path ?? "/bin:/usr/bin"
        let key = "\(name):\(path)"
        if let known = found[key] { return known }
        var error = ENOENT
        var rest = path[...]
        var isLast = false
        while !isLast {
            // Bytes, because characters cost a small run a tenth of its time.
            let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
            let folder = colon.map { rest[..<$0] } ?? rest
            isLast = colon == nil
            if let colon { rest = rest[rest.utf8.index(after: colon)...] }
            let candidate = folder.utf8.isEmpty ? "./\(name)" : "\(folder)/\(name)"
            if access(candidate, X_OK) == 0, isRegularFile(candidate) {
                found[key] = candidate
                return candidate
            }
            if errno == EACCES { error = EACCES }
        }
        throw SpawnError(errno: name.isEmpty ? ENOENT : error)
    }

    private func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }
}
