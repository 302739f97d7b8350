/// Suggestions for misspelt words.
package enum Suggestion {
    /// The candidate nearest to `word`, or nil where none is near: at most two edits, and at most a third of its
    /// length. Ties go to the first candidate.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.lowercased().unicodeScalars)
        let limit = min(2, max(1, letters.count / 3))
        var best: (distance: Int, word: String)?
        for candidate in candidates {
            let other = Array(candidate.lowercased().unicodeScalars)
            guard abs(other.count - letters.count) <= limit else { continue }
            let found = editDistance(letters, other)
            if found <= limit, found < best?.distance ?? Int.max { best = (found, candidate) }
        }
        return best?.word
    }

    /// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours each count one.
    static func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (scalar == other ? 0 : 1))
                if row > 0, column > 0, scalar == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
