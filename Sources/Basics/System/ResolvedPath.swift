internal import Glibc

/// The absolute path without links; nil, with `errno` set, where it leads nowhere.
package func resolvedPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
}

/// Where a file stands that is written, or made, by this path: what links lead to, also those that lead to nothing yet.
/// Nil where no folder is for it.
package func writtenPath(_ path: String, linksFollowed: Int = 0) -> String? {
    if let found = resolvedPath(path) { return found }
    let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? path
    let folder = name.utf8.count == path.utf8.count ? "." : String(path.dropLast(name.count))
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink(path, &target, target.count)
    guard length > 0 else { return resolvedPath(folder).map { "\($0)/\(name)" } }
    // As many as the kernel follows: path_resolution(7).
    guard linksFollowed < 40 else { return nil }
    let link = String(decoding: target[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return writtenPath(link.hasPrefix("/") ? link : "\(folder)/\(link)", linksFollowed: linksFollowed + 1)
}
