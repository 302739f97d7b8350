extension RandomAccessCollection {
    /// The first index whose element is in the second part, where every element of the first part comes before those of
    /// the second; `endIndex` if there is no second part. O(log n).
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
