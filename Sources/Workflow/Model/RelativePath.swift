/// Paths with `/` that count from a folder. Pure; follows no links.
package enum RelativePath {
    /// The way from where `folder` counts from, without `.` and, as far as it goes, without `..`.
    package static func joined(_ folder: String, _ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        var parts: [Substring] = []
        for part in folder.split(separator: "/") + path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// Empty for a file in the folder that its path counts from.
    static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }
}
