/// Suggestions for misspelt words.
///
/// A value counts its work and makes no more suggestions once that is spent, so that a file of nothing but unknown
/// names is refused in linear time.
package struct Suggestion: Sendable {
    /// The number of bytes that may still be compared.
    private(set) var workLeft: Int

    /// True if collecting further candidates is useless.
    package var isSpent: Bool { workLeft <= 0 }

    package init(work: Int = 4 << 20) { workLeft = work }

    /// Returns the candidate nearest to `word`; nil if none is near or the work is spent. Ties go to the first
    /// candidate.
    package mutating func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        guard !isSpent else { return nil }
        var search = Search(word)
        for candidate in candidates {
            search.compare(candidate)
            // Visiting a candidate is work as well.
            workLeft -= candidate.utf8.count + 8
            guard !isSpent else { break }
        }
        return search.best
    }

    /// Returns the candidate nearest to `word`; nil if none is near: one edit in two letters or more, two in six.
    /// Ties go to the first candidate. O(candidates); if a file decides the number of candidates and of words, use a
    /// value instead.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        var search = Search(word)
        for candidate in candidates { search.compare(candidate) }
        return search.best
    }

    private struct Search {
        private let size: Int
        private let letters: [Unicode.Scalar]
        private var limit: Int
        private(set) var best: String?

        init(_ word: String) {
            size = word.utf8.count
            letters = Array(word.lowercased().unicodeScalars)
            // Every word of one letter is one edit away from every other.
            limit = letters.count < 2 ? 0 : min(2, max(1, letters.count / 3))
        }

        mutating func compare(_ candidate: String) {
            // A scalar has at most four bytes; a candidate that differs more in length is not even read.
            guard limit >= 0, abs(candidate.utf8.count - size) <= 4 * limit else { return }
            let other = Array(candidate.lowercased().unicodeScalars)
            guard let distance = Suggestion.distance(letters, other, limit: limit) else { return }
            best = candidate
            limit = distance - 1
        }
    }

    /// Returns the optimal string alignment distance, in which insertions, deletions, substitutions and swaps of
    /// neighbours each count one; nil if it is more than `limit`. O(length * limit).
    static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar], limit: Int) -> Int? {
        guard abs(left.count - right.count) <= limit else { return nil }
        let tooFar = limit + 1
        var beforeLast = [Int](repeating: tooFar, count: right.count + 1)
        var last = (0...right.count).map { min($0, tooFar) }
        var current = beforeLast
        for row in left.indices {
            // Only places around the diagonal can be within the limit.
            let columns = max(0, row - limit)..<min(right.count, row + limit + 1)
            current[columns.lowerBound] = columns.lowerBound == 0 ? min(row + 1, tooFar) : tooFar
            var least = current[columns.lowerBound]
            for column in columns {
                let isEqual = left[row] == right[column]
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (isEqual ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current[column + 1] = min(cost, tooFar)
                least = min(least, cost)
            }
            if least > limit { return nil }
            if columns.upperBound < right.count { current[columns.upperBound + 1] = tooFar }
            (beforeLast, last, current) = (last, current, beforeLast)
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}

/// Builds phrases for messages.
package enum Phrase {
    /// User text in backticks, shortened if it is long, its line ends shown as a sign.
    package static func quoted(_ text: String, limit: Int = 60) -> String {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "␤")
        return line.unicodeScalars.count <= limit ? "`\(line)`" : "`\(String(line.unicodeScalars.prefix(limit - 1)))…`"
    }

    /// The largest number of words that a list names before it counts the rest.
    package static let listLimit = 12

    /// "`a`, `b` or `c`", "`a`, `b` or 9 more".
    package static func alternatives(_ words: some Collection<String>) -> String { list(words, "or") }

    /// "`a`, `b` and `c`", "`a`, `b` and 9 more". `count` is the total number if the words are only the first.
    package static func all(_ words: some Collection<String>, of count: Int? = nil) -> String {
        list(words, "and", of: count)
    }

    private static func list(_ words: some Collection<String>, _ conjunction: String, of total: Int? = nil) -> String {
        let count = total ?? words.count
        let isWhole = count <= min(listLimit, total == nil ? count : words.count)
        var shown = words.prefix(isWhole ? count : min(listLimit - 1, words.count)).map { "`\($0)`" }
        if shown.count < count { shown.append("\(count - shown.count) more") }
        guard let last = shown.last, shown.count > 1 else { return shown.first ?? "" }
        return shown.dropLast().joined(separator: ", ") + " \(conjunction) " + last
    }
}
