extension Diagnostic.Fix {
    /// Removes an item from a YAML list, with its comma or its line; has no edit if the file writes the list in
    /// another form.
    package static func removingItem(
        at range: SourceRange, in file: SourceFile, _ description: String
    ) -> Diagnostic.Fix {
        let file = file.file(at: range.lowerOffset)
        let bytes = file.bytes
        var before = range.lowerOffset - file.start
        var end = range.upperOffset - file.start
        while before > 0, bytes[before - 1] == 0x20 { before -= 1 }
        guard before > 0 else { return .init(description) }
        var start = before - 1
        switch bytes[start] {
        case UInt8(ascii: ","): break
        case UInt8(ascii: "-"):
            while start > 0, bytes[start - 1] == 0x20 { start -= 1 }
            while end < bytes.count, bytes[end] == 0x20 { end += 1 }
            guard end < bytes.count, bytes[end] == 0x0A, start == 0 || bytes[start - 1] == 0x0A else {
                return .init(description)
            }
            end += 1
        default: return .init(description)
        }
        let removed = SourceRange(file.start + start..<file.start + end)
        return .init(description, edits: [Edit(range: removed, replacement: "")])
    }
}
