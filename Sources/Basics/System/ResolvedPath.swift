internal import Glibc

/// Returns the absolute path without links; nil, with `errno` set, if the path leads nowhere.
package func resolvedPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
}

/// Returns the path of the file that writing to `path` changes or creates: links are followed even if their target
/// does not exist yet. nil if there is no folder for the file.
package func writtenPath(_ path: String) -> String? {
    var path = path
    // As many links as the kernel follows: path_resolution(7).
    for _ in 0...40 {
        if let found = resolvedPath(path) { return found }
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { String(path[...$0]) } ?? "./"
        guard let link = linkTarget(path) else {
            let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
            return resolvedPath(folder).map { "\($0)/\(name)" }
        }
        path = link.hasPrefix("/") ? link : folder + link
    }
    return nil
}

private func linkTarget(_ path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &target, target.count)
    return length > 0 ? String(decoding: target[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
}
