internal import Glibc

/// What in a state directory is flowrun's own: the key, the locks and the folders of runs. Others may keep files beside
/// them.
extension StateDirectory {
    /// Whether a path leads to an existing file of these, also through links.
    package func owns(_ path: String) -> Bool {
        guard let found = realpath(path, nil) else { return false }
        defer { free(found) }
        let names = String(cString: found).split(separator: "/")
        guard let depth = names.indices.first(where: { isSame(as: "/" + names[..<$0].joined(separator: "/")) }) else {
            return false
        }
        let name = String(names[depth])
        let isInside = depth < names.count - 1
        return isInside
            ? [Self.runsName, Self.sparesName].contains(name) : name == Self.keyName || RunLock.isFileName(name)
    }
}
