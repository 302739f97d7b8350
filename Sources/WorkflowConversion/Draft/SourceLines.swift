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
