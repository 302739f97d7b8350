/// `$NAME` and `${NAME}` in a text that looks like a shell's, each with its place and its name, without what stands in
/// comments and without `${NAME:-word}` and the like, which are ready for a variable that is not set.
struct ShellReferences: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func next() -> (part: Range<Int>, name: String)? {
        while offset < bytes.count {
            let start = offset
            offset += 1
            switch bytes[start] {
            case UInt8(ascii: "#") where isFirstOfLine(start):
                offset = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            case UInt8(ascii: "\\"):
                offset += 1
            case UInt8(ascii: "$"):
                if let found = reference(at: start) { return found }
            default: break
            }
        }
        return nil
    }

    private mutating func reference(at start: Int) -> (part: Range<Int>, name: String)? {
        let isBraced = start + 1 < bytes.count && bytes[start + 1] == UInt8(ascii: "{")
        let first = isBraced ? start + 2 : start + 1
        var end = first
        while end < bytes.count, VariableName.isLetter(bytes[end]) { end += 1 }
        let name = String(decoding: bytes[first..<Swift.max(first, end)], as: UTF8.self)
        guard VariableName.isValid(name) else {
            // Of `$$` neither begins a name.
            if first < bytes.count, bytes[first] == UInt8(ascii: "$") { offset = first + 1 }
            return nil
        }
        offset = end
        guard isBraced else { return (start..<end, name) }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "}") else { return nil }
        return (start..<end + 1, name)
    }

    private func isFirstOfLine(_ offset: Int) -> Bool {
        var before = offset
        while before > 0, bytes[before - 1] == 0x20 || bytes[before - 1] == 0x09 { before -= 1 }
        return before == 0 || bytes[before - 1] == UInt8(ascii: "\n")
    }
}
