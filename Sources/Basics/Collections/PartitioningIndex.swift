extension RandomAccessCollection {
    /// Returns the first index whose element satisfies the predicate; `endIndex` if none does. All elements that do
    /// not satisfy it must come before those that do. O(log n).
    @inlinable
    package func partitioningIndex(where isInSecondPart: (Element) throws -> Bool) rethrows -> Index {
        var start = startIndex
        var length = count
        while length > 0 {
            let half = length / 2
            let middle = index(start, offsetBy: half)
            if try isInSecondPart(self[middle]) {
                length = half
            } else {
                start = index(after: middle)
                length -= half + 1
            }
        }
        return start
    }
}
