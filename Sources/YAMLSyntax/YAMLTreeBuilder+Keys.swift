internal import SourceDiagnostics

extension YAMLTreeBuilder {
    /// Up to here comparing every pair is cheaper than hashing.
    private static let pairwiseLimit = 8

    /// Refuses keys that are collections, merge keys, and keys that an earlier one of the same mapping equals. Linear.
    mutating func refuseKeys(ofMapping mapping: UInt32) {
        let count = Int(rows[Int(mapping)].first)
        guard count <= Self.pairwiseLimit else { return refuseManyKeys(ofMapping: mapping, count: count) }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: Self.pairwiseLimit) { seen in
            var seenCount = 0
            var key = mapping + 1
            while key < rows[Int(mapping)].second {
                let value = rows[Int(key)].end(at: key)
                if !refuseOddKey(key) {
                    if let first = seen[..<seenCount].first(where: { keysAreEqual($0, key) }) {
                        refuseDuplicate(key, of: first)
                    } else {
                        seen[seenCount] = key
                        seenCount += 1
                    }
                }
                key = rows[Int(value)].end(at: value)
            }
        }
    }

    /// The same with a hash table of rows: a workflow has a hundred thousand steps in one mapping.
    private mutating func refuseManyKeys(ofMapping mapping: UInt32, count: Int) {
        let mask = (count * 2).nextPowerOfTwo - 1
        // Row 0 is the document's root and never a key, so it marks a free slot.
        var table = [UInt32](repeating: 0, count: mask + 1)
        var key = mapping + 1
        while key < rows[Int(mapping)].second {
            let value = rows[Int(key)].end(at: key)
            if !refuseOddKey(key) {
                var hasher = Hasher()
                withKeyBytes(key) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
                var slot = hasher.finalize() & mask
                while table[slot] != 0, !keysAreEqual(table[slot], key) { slot = (slot + 1) & mask }
                if table[slot] == 0 { table[slot] = key } else { refuseDuplicate(key, of: table[slot]) }
            }
            key = rows[Int(value)].end(at: value)
        }
    }

    /// Reports and marks a key that is no name; returns whether it was one.
    private mutating func refuseOddKey(_ key: UInt32) -> Bool {
        let row = rows[Int(contentRow(key))]
        let range = rows[Int(key)].start..<rows[Int(key)].end
        let place = Int(range.lowerBound)..<Int(range.upperBound)
        if row.isCollection {
            let isTemplate = row.kind == .mapping && row.start > 0 && source[Int(row.start) - 1] == UInt8(ascii: "{")
            report(
                .keyNotScalar, "a key must be a plain name, found a \(row.kind == .mapping ? "mapping" : "list")",
                at: place, fix: .init(isTemplate ? "quote the text if the braces belong to it" : "write a name here"))
        } else if row.kind == .plain, row.second == 2, withKeyBytes(key, { $0[0] == 0x3C && $0[1] == 0x3C }) {
            report(
                .mergeKeyRefused, "merge keys are not accepted", at: place,
                fix: .init("write the keys out, or put what all steps share under `defaults`"))
        } else if row.kind == .invalid {
            // The alias was reported.
        } else {
            return false
        }
        rows[Int(key)].isRefusedKey = true
        return true
    }

    private mutating func refuseDuplicate(_ key: UInt32, of first: UInt32) {
        rows[Int(key)].isRefusedKey = true
        let name = withKeyBytes(key) { String(decoding: $0, as: UTF8.self) }
        let (row, firstRow) = (rows[Int(key)], rows[Int(first)])
        report(
            .duplicateKey, "the key \(Phrase.quoted(name)) is given twice", at: Int(row.start)..<Int(row.end),
            notes: [
                .init("the first one stands here", at: SourceRange(start: firstRow.start, end: firstRow.end))
            ],
            fix: .init("remove or rename one of the two"))
    }

    private func contentRow(_ key: UInt32) -> UInt32 {
        rows[Int(key)].kind == .alias ? rows[Int(key)].first : key
    }

    private func keysAreEqual(_ left: UInt32, _ right: UInt32) -> Bool {
        guard rows[Int(contentRow(left))].second == rows[Int(contentRow(right))].second else { return false }
        return withKeyBytes(left) { left in
            withKeyBytes(right) { right in
                for index in 0..<left.count where left[index] != right[index] { return false }
                return true
            }
        }
    }

    private func withKeyBytes<Result>(_ key: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let row = rows[Int(contentRow(key))]
        let range = Int(row.first)..<Int(row.first) + Int(row.second)
        guard row.isCopied else { return body(UnsafeBufferPointer(rebasing: source[range])) }
        return copiedText.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { 1 << (bitWidth - (self - 1).leadingZeroBitCount) }
}
