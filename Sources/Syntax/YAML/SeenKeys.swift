internal import Basics

/// The keys of a mapping that is being read, to find repeated ones. Holds rows, not texts.
///
/// A few keys are compared with each other as they come. Many are only hashed as they come, and compared at the end,
/// in groups by their hashes: a table of all keys exceeds the processor's cache, so that a look-up for each key costs
/// more than all of this.
struct SeenKeys {
    /// Up to this number, comparing with every key is cheaper than hashing.
    private static let fewLimit = 8

    private var count = 0
    private var few = InlineArray<8, UInt32>(repeating: 0)
    /// All keys once they are many, in file order: the upper half of a hash, then the row.
    private var many: [UInt64] = []

    /// True if `duplicates` may find any.
    var areMany: Bool { !many.isEmpty }

    /// Adds a key. Returns the row of an equal key, if that is known already.
    mutating func insert(
        _ key: UInt32, _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) -> UInt32? {
        if many.isEmpty {
            for index in 0..<count where keysAreEqual(few[index], key, rows, source, copiedText) { return few[index] }
            if count < Self.fewLimit {
                few[count] = key
                count += 1
                return nil
            }
            for index in 0..<count { many.append(Self.entry(few[index], rows, source, copiedText)) }
        }
        many.append(Self.entry(key, rows, source, copiedText))
        return nil
    }

    /// Returns the repeated keys that `insert` did not report, each with the first equal one, in file order.
    func duplicates(
        _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) -> [(key: UInt32, first: UInt32)] {
        var found: [(key: UInt32, first: UInt32)] = []
        // An open-addressing table, at most half full. 0 is free, because row 0 is the document's outermost node and
        // never a key.
        var table: [UInt64] = []
        forEachGroup { group in
            var mask = 15
            while mask < 2 * group.count { mask = mask << 1 | 1 }
            table.removeAll(keepingCapacity: true)
            table.append(contentsOf: repeatElement(0, count: mask + 1))
            for entry in group {
                var slot = Int(entry >> 32) & mask
                while table[slot] != 0 {
                    let (key, first) = (UInt32(truncatingIfNeeded: entry), UInt32(truncatingIfNeeded: table[slot]))
                    if table[slot] >> 32 == entry >> 32, keysAreEqual(first, key, rows, source, copiedText) {
                        found.append((key, first))
                        break
                    }
                    slot = (slot + 1) & mask
                }
                if table[slot] == 0 { table[slot] = entry }
            }
        }
        return found.sorted { $0.key < $1.key }
    }

    /// Calls the body with the entries whose hashes begin alike, some hundred at a time, each group in file order.
    private func forEachGroup(_ body: (ArraySlice<UInt64>) -> Void) {
        var bits = 0
        while many.count >> bits > 512 { bits += 1 }
        let shift = 64 - bits
        var starts = [Int](repeating: 0, count: 1 << bits + 1)
        for entry in many { starts[Int(entry >> shift) + 1] += 1 }
        for group in 0..<1 << bits { starts[group + 1] += starts[group] }
        var next = starts
        var grouped = [UInt64](repeating: 0, count: many.count)
        for entry in many {
            let group = Int(entry >> shift)
            grouped[next[group]] = entry
            next[group] += 1
        }
        for group in 0..<1 << bits { body(grouped[starts[group]..<starts[group + 1]]) }
    }

    private static func entry(
        _ key: UInt32, _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) -> UInt64 {
        let hash = rows.withKeyBytes(key, source, copiedText) { ByteHash.of(UnsafeRawBufferPointer($0)) }
        return hash & ~0xFFFF_FFFF | UInt64(key)
    }

    private func keysAreEqual(
        _ left: UInt32, _ right: UInt32, _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>,
        _ copiedText: [UInt8]
    ) -> Bool {
        rows.withKeyBytes(left, source, copiedText) { left in
            rows.withKeyBytes(right, source, copiedText) { right in
                left.count == right.count && left.elementsEqual(right)
            }
        }
    }
}

extension YAMLRows {
    /// The row with the content of a key; for an alias, that of the anchored node.
    func content(ofKey key: UInt32) -> YAMLRow { self[key].kind == .alias ? self[self[key].link] : self[key] }

    func withKeyBytes<Result>(
        _ key: UInt32, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8],
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        copiedText.withUnsafeBufferPointer { body(content(ofKey: key).value(source, $0)) }
    }
}

extension YAMLTreeBuilder {
    /// Reports and marks a key that is not a name: a collection, a merge key. Also marks an alias that has been
    /// reported. Returns true if it was one of these.
    mutating func refuseOddKey(_ key: UInt32) -> Bool {
        let row = rows.content(ofKey: key)
        let place = Int(rows[key].start)..<Int(rows[key].end)
        if row.isCollection {
            let isMapping = row.kind == .mapping
            let isTemplate = isMapping && row.start > 0 && source[Int(row.start) - 1] == UInt8(ascii: "{")
            report(
                .keyNotScalar, "a key must be a plain name, found a \(isMapping ? "mapping" : "list")",
                at: place, fix: .init(isTemplate ? "quote the text if the braces belong to it" : "write a name here"))
        } else if row.kind == .plain, row.end - row.start == 2, source[Int(row.start)] == UInt8(ascii: "<"),
            source[Int(row.start) + 1] == UInt8(ascii: "<")
        {
            report(
                .mergeKeyRefused, "merge keys are not accepted", at: place,
                fix: .init("write the keys out, or put what all steps share under `defaults`"))
        } else if row.kind == .invalid {
            // The alias has been reported.
        } else {
            return false
        }
        rows[key].markRefusedKey()
        return true
    }

    mutating func refuseDuplicates(in keys: SeenKeys) {
        guard keys.areMany else { return }
        for (key, first) in keys.duplicates(rows, source, copiedText) { refuseDuplicate(key, of: first) }
    }

    mutating func refuseDuplicate(_ key: UInt32, of first: UInt32) {
        rows[key].markRefusedKey()
        let name = rows.withKeyBytes(key, source, copiedText) { String(decoding: $0, as: UTF8.self) }
        let (row, firstRow) = (rows[key], rows[first])
        report(
            .duplicateKey, "the key \(Phrase.quoted(name)) is given twice", at: Int(row.start)..<Int(row.end),
            notes: [.init("the first one is here", at: firstRow.range)],
            fix: .init("remove or rename one of the two"))
    }
}
