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
