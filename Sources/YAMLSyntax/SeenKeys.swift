internal import SourceDiagnostics

/// The keys of a mapping that is being read, to find the one that comes twice. Holds rows, not texts.
struct SeenKeys {
    /// Up to here comparing with every key is cheaper than hashing.
    private static let fewLimit = 8

    private var count = 0
    private var few = InlineArray<8, UInt32>(repeating: 0)
    /// An open-addressing table, filled to seven eighths at most: the upper half of a hash, then the row. 0 is free, because
    /// row 0 is the document's outermost node and never a key.
    private var table: [UInt64] = []

    /// Adds a key, or returns the row of the one that says the same.
    mutating func insert(
        _ key: UInt32, _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) -> UInt32? {
        if count < Self.fewLimit {
            for index in 0..<count where keysAreEqual(few[index], key, rows, source, copiedText) { return few[index] }
            few[count] = key
            count += 1
            return nil
        }
        if count * 8 >= table.count * 7 { grow(rows, source, copiedText) }
        if let first = insertIntoTable(key, rows, source, copiedText) { return first }
        count += 1
        return nil
    }

    private mutating func grow(
        _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) {
        let old = table
        table = [UInt64](repeating: 0, count: max(64, old.count * 2))
        if old.isEmpty {
            for index in 0..<Self.fewLimit { _ = insertIntoTable(few[index], rows, source, copiedText) }
        }
        for entry in old where entry != 0 {
            // The upper half of the hash has all the bits that any table needs.
            var slot = Int(entry >> 32) & (table.count - 1)
            while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
            table[slot] = entry
        }
    }

    private mutating func insertIntoTable(
        _ key: UInt32, _ rows: borrowing YAMLRows, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8]
    ) -> UInt32? {
        let hash = rows.withKeyBytes(key, source, copiedText) { Self.hash(of: UnsafeRawBufferPointer($0)) } >> 32
        let mask = table.count - 1
        var slot = Int(hash) & mask
        while table[slot] != 0 {
            let row = UInt32(truncatingIfNeeded: table[slot])
            if table[slot] >> 32 == hash, keysAreEqual(row, key, rows, source, copiedText) { return row }
            slot = (slot + 1) & mask
        }
        table[slot] = hash << 32 | UInt64(key)
        return nil
    }

    /// Unknown to whoever writes a file, so that no file can be made slow by its keys.
    private static let seed = UInt64.random(in: .min ... .max)

    /// A multiplication per eight bytes, both halves of the product folded into one.
    private static func hash(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(bytes.count)
        var offset = 0
        while offset < bytes.count {
            var word: UInt64 = 0
            if offset + 8 <= bytes.count {
                word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            } else {
                for byte in bytes[offset...] { word = word << 8 | UInt64(byte) }
            }
            let product = (hash ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
            hash = product.high ^ product.low ^ seed
            offset += 8
        }
        return hash
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
    /// The row that holds what a key says.
    func content(ofKey key: UInt32) -> YAMLRow { self[key].kind == .alias ? self[self[key].link] : self[key] }

    func withKeyBytes<Result>(
        _ key: UInt32, _ source: UnsafeBufferPointer<UInt8>, _ copiedText: [UInt8],
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        copiedText.withUnsafeBufferPointer { body(content(ofKey: key).value(source, $0)) }
    }
}

extension YAMLTreeBuilder {
    /// Reports and marks a key that is no name: a collection, a merge key; returns whether it was one.
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
            // The alias was reported.
        } else {
            return false
        }
        rows[key].markRefusedKey()
        return true
    }

    mutating func refuseDuplicate(_ key: UInt32, of first: UInt32) {
        rows[key].markRefusedKey()
        let name = rows.withKeyBytes(key, source, copiedText) { String(decoding: $0, as: UTF8.self) }
        let (row, firstRow) = (rows[key], rows[first])
        report(
            .duplicateKey, "the key \(Phrase.quoted(name)) is given twice", at: Int(row.start)..<Int(row.end),
            notes: [.init("the first one stands here", at: firstRow.range)],
            fix: .init("remove or rename one of the two"))
    }
}
