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
