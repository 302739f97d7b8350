internal import SourceDiagnostics

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
