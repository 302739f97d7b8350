/// The lines of the file that is being converted.
struct SourceLines {
    /// The last part of the file's path.
    let name: String
    let lines: [String]

    init(name: String, text: String) {
        self.name = name
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines.last?.isEmpty == true { lines.removeLast() }
        self.lines = lines
    }

    /// Returns lines by their indices, from 0, without those outside of the file.
    func excerpt(_ range: Range<Int>) -> Excerpt {
        let range = range.clamped(to: 0..<lines.count)
        return Excerpt(file: name, line: range.lowerBound + 1, lines: Array(lines[range])).trimmed
    }

    func excerpt(_ index: Int) -> Excerpt { excerpt(index..<index + 1) }

    /// The comment right above a line, without its `#`.
    func comment(above index: Int) -> [String] {
        var start = index
        while start > 0, lines[start - 1].trimmed.hasPrefix("#") { start -= 1 }
        return lines[start..<index].map { line in
            let text = line.trimmed.drop { $0 == "#" }
            return text.first == " " ? String(text.dropFirst()) : String(text)
        }
    }
}

/// The files around the one to convert, as far as the conversion may look at them.
package struct ForeignFolder: Sendable {
    /// The names in a folder; nil if it is not known.
    private let names: @Sendable (String) -> Set<String>?
    private let text: @Sendable (String) -> String?
    /// The text of a file that is not there, but that a tool has made in a copy of the folder.
    private let made: @Sendable (String) -> String?

    /// Paths are relative to the folder of the file to convert.
    package init(
        names: @escaping @Sendable (String) -> Set<String>?, text: @escaping @Sendable (String) -> String?,
        made: @escaping @Sendable (String) -> String? = { _ in nil }
    ) {
        self.names = names
        self.text = text
        self.made = made
    }

    package static let unknown = ForeignFolder(names: { _ in nil }, text: { _ in nil })

    /// False if nothing is known about any file.
    var isKnown: Bool { names(".") != nil }

    func exists(_ path: String) -> Bool {
        let path = Self.normal(path)
        let slash = path.lastIndex(of: "/")
        let folder = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
        return path == "." || names(folder)?.contains(name) == true
    }

    func source(_ path: String) -> SourceLines? {
        (exists(path) ? text : made)(Self.normal(path)).map { SourceLines(name: path, text: $0) }
    }

    /// The paths that a pattern with `*` or `?` matches, sorted; a path without them, if it is there.
    func matches(_ pattern: String) -> [String] {
        var found = [pattern.hasPrefix("/") ? "/" : ""]
        let parts = pattern.split(separator: "/").map(String.init)
        for part in parts {
            found = found.flatMap { folder -> [String] in
                let place = folder.isEmpty ? "." : folder.count > 1 ? String(folder.dropLast()) : folder
                guard part.contains(where: { "*?".contains($0) }) else {
                    return part == ".." || part == "." || exists(folder + part) ? [folder + part + "/"] : []
                }
                return (names(place) ?? []).filter {
                    Self.fits($0[...], part[...]) && ($0.first != "." || part.first == ".") && $0 != "." && $0 != ".."
                }.sorted().map { folder + $0 + "/" }
            }
        }
        return found.filter { !$0.isEmpty }.map { String($0.dropLast()) }
    }

    static func normal(_ path: String) -> String {
        var path = path
        while path.hasPrefix("./") { path.removeFirst(2) }
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path.isEmpty ? "." : path
    }

    static func fits(_ name: Substring, _ pattern: Substring) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == "*" {
            return fits(name, pattern.dropFirst()) || !name.isEmpty && fits(name.dropFirst(), pattern)
        }
        guard let character = name.first, first == "?" || first == character else { return false }
        return fits(name.dropFirst(), pattern.dropFirst())
    }
}

/// Lines of the file that is being converted, and their place.
package struct Excerpt: Equatable, Sendable {
    package static let none = Excerpt(file: "", line: 0, lines: [])

    let file: String
    /// The number of the first line, from 1.
    let line: Int
    let lines: [String]

    /// The reason, the place and the lines, as comments.
    func comments(_ reason: String) -> [String] {
        guard !lines.isEmpty else { return [reason] }
        let indentation = lines.filter { !$0.isBlank }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
        return ["\(file):\(line): \(reason)"] + lines.map { $0.isBlank ? "" : "    \($0.dropFirst(indentation))" }
    }

    /// Appends lines from further down.
    mutating func add(_ other: Excerpt) {
        guard other != self else { return }
        self = Excerpt(file: file, line: line, lines: lines + other.lines)
    }

    /// Without trailing blank lines.
    var trimmed: Excerpt {
        let last = lines.lastIndex { !$0.isBlank } ?? -1
        return Excerpt(file: file, line: line, lines: Array(lines[...last]))
    }
}
