/// Paths with `/` that are relative to a folder. Pure; follows no links.
package enum RelativePath {
    /// Joins a path to the folder that it is relative to, without `.` and, as far as possible, without `..`. An
    /// absolute path is returned as it is.
    package static func joined(_ folder: String, _ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        var parts: [Substring] = []
        for part in folder.split(separator: "/") + path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The folder of a path; empty if the path is only a name.
    static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }
}
