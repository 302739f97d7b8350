internal import Basics
internal import Glibc

/// What in a state directory is flowrun's own: the key, the locks and the folders of runs. Others may keep files beside
/// them.
extension StateDirectory {
    /// Whether what is written to a path would be one of these, whether it is there yet or not, and by whatever link it is
    /// named; not by hard links to files of runs, of which there may be many.
    func owns(_ path: String) -> Bool {
        var status = stat()
        if stat(path, &status) == 0, isOwn(status) { return true }
        guard let names = writtenPath(path)?.split(separator: "/"),
            let depth = names.indices.first(where: { isSame(as: "/" + names[..<$0].joined(separator: "/")) })
        else { return false }
        let name = String(names[depth])
        let isDirectlyInside = depth == names.count - 1
        return [Self.runsName, Self.sparesName].contains(name) || isDirectlyInside && Self.isOwn(name)
    }

    private static func isOwn(_ name: String) -> Bool { name == keyName || RunLock.isFileName(name) }

    private func isOwn(_ other: stat) -> Bool {
        names().contains { name in
            var status = stat()
            return Self.isOwn(name) && fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
                && status.st_dev == other.st_dev && status.st_ino == other.st_ino
        }
    }
}
