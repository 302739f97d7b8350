/// How a value is read at a place in a shell script.
enum ScriptQuoting {
    /// `$name` inside double quotes, `"$name"` outside of quotes; nil where a variable is not expanded, or where it cannot
    /// be told. O(length).
    static func variable(_ name: String, at part: Range<Int>, in script: [UInt8]) -> String? {
        var quote: UInt8?
        var offset = 0
        while offset < part.lowerBound {
            let byte = script[offset]
            switch (quote, byte) {
            case (nil, UInt8(ascii: "\\")), (UInt8(ascii: "\"")?, UInt8(ascii: "\\")): offset += 1
            case (nil, UInt8(ascii: "'")), (nil, UInt8(ascii: "\"")): quote = byte
            // A document: quotes are plain characters in it.
            case (nil, UInt8(ascii: "<")) where offset > 0 && script[offset - 1] == byte: return nil
            case (nil, UInt8(ascii: "#")) where offset == 0 || " \t\n;".utf8.contains(script[offset - 1]):
                offset = script[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? script.count
            case (let open?, _) where open == byte: quote = nil
            default: break
            }
            offset += 1
        }
        // In a comment.
        guard offset == part.lowerBound else { return nil }
        let next = part.upperBound < script.count ? script[part.upperBound] : 0
        switch quote {
        case nil: return "\"$\(name)\""
        case UInt8(ascii: "\"")?: return VariableName.isLetter(next) ? "${\(name)}" : "$\(name)"
        default: return nil
        }
    }
}
