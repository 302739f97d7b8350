internal import Glibc

/// Finds programs along a PATH, once per name and PATH.
package struct ProgramFinder {
    private struct Key: Hashable {
        let name: String
        let path: String
    }

    private var found: [Key: String] = [:]

    package init() {}

    /// Where the program stands. A name with a slash is taken as it is. Throws ENOENT where no folder of the PATH holds
    /// it, EACCES where one does that may not be run.
    package mutating func find(_ name: String, path: String?) throws(SpawnError) -> String {
        if name.utf8.contains(UInt8(ascii: "/")) { return name }
        // What exec falls back to where PATH is not set.
        let key = Key(name: name, path: path ?? "/bin:/usr/bin")
        if let known = found[key] { return known }
        var error = ENOENT
        for folder in key.path.split(separator: ":", omittingEmptySubsequences: false) {
            let candidate = folder.isEmpty ? "./\(name)" : "\(folder)/\(name)"
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
