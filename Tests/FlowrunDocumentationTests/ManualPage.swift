import FlowrunTestSupport

/// A manual page in mdoc, read no further than the tests need: sections and the heads of their list items.
struct ManualPage {
    let document: PackageDocument

    init(_ name: String) throws {
        document = try PackageDocument("man/\(name)")
    }

    /// The lines of a section (`.Sh`) or of the whole page, without those of literal displays.
    private func lines(in section: String?) -> [Substring] {
        var result: [Substring] = []
        var current: Substring?
        var isLiteral = false
        for line in document.lines {
            if line.hasPrefix(".Sh ") { current = line.dropFirst(4) }
            if line.hasPrefix(".Bd -literal") { isLiteral = true }
            if !isLiteral, section == nil || current == section.map({ $0[...] }) { result.append(line) }
            if line == ".Ed" { isLiteral = false }
        }
        return result
    }

    /// The words of every `.It` line of a section, without `.It`.
    func items(in section: String) -> [[Substring]] {
        lines(in: section).filter { $0.hasPrefix(".It ") }.map { $0.dropFirst(4).split(separator: " ") }
    }

    /// What follows a macro at the head of a section's items, such as the `run.started` of `.It Cm run.started`.
    func items(in section: String, marked macro: Substring) -> [String] {
        items(in: section).flatMap { words in
            Self.words(after: macro, in: words)
        }
    }

    private static func words(after macro: Substring, in words: [Substring]) -> [String] {
        words.indices.dropLast().filter { words[$0] == macro }.map { String(words[$0 + 1]) }
    }

    /// What follows a macro at the beginning of a line anywhere in a section.
    func words(in section: String, marked macro: String) -> [String] {
        let head = ".\(macro) "
        return lines(in: section).filter { $0.hasPrefix(head) }.map { line in
            String(line.dropFirst(head.count).prefix { $0 != " " })
        }
    }

    /// What follows a macro at the beginning of a line below one item of a section's lists, up to the next item or the
    /// end of the list.
    func words(under head: String, in section: String, marked macro: String) -> Set<String> {
        var words: Set<String> = []
        var isInside = false
        for line in lines(in: section) {
            if line.hasPrefix(".It ") { isInside = line.split(separator: " ").last == head[...] }
            if line == ".El" { isInside = false }
            guard isInside, line.hasPrefix(".\(macro) ") else { continue }
            words.insert(String(line.dropFirst(macro.count + 2).prefix { $0 != " " }))
        }
        return words
    }

    /// The options that the page's lists describe, with their dashes.
    var options: Set<String> {
        Set(items(in: "OPTIONS", marked: "Fl").map { "-\($0)" })
    }

    /// The places of each key in `KEYS`: the words in parentheses after it.
    var keyPlaces: [String: Set<String>] {
        var result: [String: Set<String>] = [:]
        for words in items(in: "KEYS") where words.first == "Ic" && words.count > 4 {
            result[String(words[1])] = Set(words.dropFirst(4).filter { $0 != "," }.map(String.init))
        }
        return result
    }
}
