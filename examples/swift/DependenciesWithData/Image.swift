/// A greyscale picture, one character for a pixel.
struct Image: Sendable {
    /// From dark to light.
    private static let shades = Array(" .:-=+*#%@")
    /// Rows of shades, all of the same length.
    var rows: [[Int]]

    /// The picture that `text` draws; nil if a character is not a shade or rows differ in length.
    init?(_ text: String) {
        var rows: [[Int]] = []
        for line in text.split(separator: "\n") {
            let row = line.compactMap { Self.shades.firstIndex(of: $0) }
            guard row.count == line.count, row.count == rows.first?.count ?? row.count else { return nil }
            rows.append(row)
        }
        if rows.isEmpty { return nil }
        self.rows = rows
    }

    var text: String {
        rows.map { row in String(row.map { Self.shades[$0] }) + "\n" }.joined()
    }

    /// The picture as a lens shows it that is sharp only in the middle: the farther from there, the more a row is
    /// blurred.
    var tiltShifted: Image {
        var copy = self
        for (number, row) in rows.enumerated() {
            let reach = abs(number - rows.count / 2)
            copy.rows[number] = row.indices.map { column in
                let near = row[max(0, column - reach)...min(row.count - 1, column + reach)]
                return near.reduce(0, +) / near.count
            }
        }
        return copy
    }
}
