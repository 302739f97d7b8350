extension Diagnostic.Fix {
    /// Takes an item out of a YAML list, with the comma or the line that it needs; without an edit where the file has it in
    /// another form.
    package static func removingItem(
        at range: SourceRange, in file: SourceFile, _ description: String
    ) -> Diagnostic.Fix {
        let file = file.file(at: range.lowerOffset)
        let bytes = file.bytes
        let item = range.lowerOffset - file.start..<range.upperOffset - file.start
        func edit(_ bounds: Range<Int>) -> Edit {
            Edit(range: SourceRange(file.start + bounds.lowerBound..<file.start + bounds.upperBound), replacement: "")
        }
        var before = item.lowerBound
        while before > 0, bytes[before - 1] == 0x20 { before -= 1 }
        guard before > 0 else { return .init(description) }
        switch bytes[before - 1] {
        case UInt8(ascii: ","):
            return .init(description, edits: [edit(before - 1..<item.upperBound)])
        case UInt8(ascii: "-"):
            var start = before - 1
            while start > 0, bytes[start - 1] == 0x20 { start -= 1 }
            var end = item.upperBound
            while end < bytes.count, bytes[end] == 0x20 { end += 1 }
            let isAlone = end < bytes.count && bytes[end] == 0x0A && (start == 0 || bytes[start - 1] == 0x0A)
            return .init(description, edits: isAlone ? [edit(start..<min(end + 1, bytes.count))] : [])
        default: return .init(description)
        }
    }
}
