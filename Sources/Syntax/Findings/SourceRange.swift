/// A half-open range of places in one `SourceFile`, counted in bytes. Eight bytes, because a large workflow holds a
/// million of them.
package struct SourceRange: Hashable, Sendable {
    package let start: UInt32
    package let end: UInt32

    package init(start: UInt32, end: UInt32) {
        self.start = start
        self.end = max(start, end)
    }

    package init(_ range: Range<Int>) {
        self.init(start: UInt32(range.lowerBound), end: UInt32(range.upperBound))
    }

    /// The place before the first byte.
    package static let beginning = SourceRange(start: 0, end: 0)

    /// From the start of this range to the end of a later one.
    package func joined(with other: SourceRange) -> SourceRange {
        SourceRange(start: start, end: Swift.max(end, other.end))
    }

    /// Returns the range moved by a distance, for a file whose first byte is at another place.
    package func moved(by distance: Int) -> SourceRange {
        SourceRange(lowerOffset + distance..<upperOffset + distance)
    }

    package var lowerOffset: Int { Int(start) }
    package var upperOffset: Int { Int(end) }
}

/// A place as editors count it: line and column from 1, columns in Unicode scalars.
package struct SourceLocation: Hashable, Comparable, Sendable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
