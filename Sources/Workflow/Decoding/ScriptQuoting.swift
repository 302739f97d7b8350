/// Finds out how a shell reads a value at given places of a script, which are asked about in their order.
struct ScriptQuoting {
    private let script: [UInt8]
    private var offset = 0
    private var quote: UInt8?
    /// True in a script with a here-document so far, in which quotes are plain characters.
    private var isInDocument = false

    init(_ script: [UInt8]) { self.script = script }

    /// True if the last place asked about is in single quotes.
    var isLiteral: Bool { quote == UInt8(ascii: "'") && !isInDocument }

    /// `$name` inside double quotes, `"$name"` outside of quotes; nil if a variable is not expanded there, or if that
    /// is not known. The text of the place itself is no part of the script. O(length since the last place).
    mutating func variable(_ name: String, at part: Range<Int>) -> String? {
        advance(to: part.lowerBound)
        // The place is in a comment.
        guard offset == part.lowerBound, !isInDocument else { return nil }
        offset = part.upperBound
        let next = part.upperBound < script.count ? script[part.upperBound] : 0
        switch quote {
        case nil: return "\"$\(name)\""
        case UInt8(ascii: "\"")?: return VariableName.isLetter(next) ? "${\(name)}" : "$\(name)"
        default: return nil
        }
    }

    private mutating func advance(to end: Int) {
        while offset < end, !isInDocument {
            let byte = script[offset]
            switch (quote, byte) {
            case (nil, UInt8(ascii: "\\")), (UInt8(ascii: "\"")?, UInt8(ascii: "\\")): offset += 1
            case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")): quote = byte
            case (nil, UInt8(ascii: "<")) where offset > 0 && script[offset - 1] == byte: isInDocument = true
            case (nil, UInt8(ascii: "#")) where offset == 0 || " \t\n;".utf8.contains(script[offset - 1]):
                offset = script[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? script.count
            case (let open?, _) where open == byte: quote = nil
            default: break
            }
            offset += 1
        }
    }
}
