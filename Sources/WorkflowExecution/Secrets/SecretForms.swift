/// The byte sequences by which a secret can be told in what programs write: itself, its lines, and the encodings that
/// tools put it into on the way to a log.
///
/// Each form has at least `minimum` bytes, because shorter ones stand in every text. What turns a secret into something
/// else than these (compression, encryption, one letter per line) is not seen.
struct SecretForms {
    /// The fewest bytes of a form, and of a secret.
    static let minimum = 4

    /// Without duplicates.
    private(set) var all: Set<[UInt8]> = []
    /// Those that tools break into lines: base64, where it is long enough not to come about by chance.
    private(set) var wrapped: Set<[UInt8]> = []
    private static let shortestWrapped = 12

    init(of secret: String) {
        let bytes = Array(secret.utf8)
        addText(bytes)
        addText(Self.replacing([0x0A], by: [0x0D, 0x0A], in: bytes))
        if bytes.contains(0x0A) {
            for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) { addText(Self.trimmed(line)) }
        }
        addURLForms(bytes)
        addBase64Forms(bytes)
        // `echo $TOKEN | base64`: a character is decided by the end of the secret and the line feed together.
        addBase64Forms(bytes + [0x0A])
        for digits in [Self.lowerDigits, Self.upperDigits] {
            var form: [UInt8] = []
            for byte in bytes { Self.append(byte, in: digits, to: &form) }
            add(form)
        }
    }

    private mutating func add(_ form: [UInt8]) {
        if form.count >= Self.minimum { all.insert(form) }
    }

    /// A text as it is, as a JSON string would have it, and as a shell shows it inside single quotes (`set -x`).
    private mutating func addText(_ bytes: [UInt8]) {
        add(bytes)
        add(Self.replacing([0x27], by: Array(#"'\''"#.utf8), in: bytes))
        for style in JSONStyle.all { add(style.escaped(bytes)) }
    }

    /// Percent-encoding, in both cases of its digits, with the blank as `%20` or `+`, and with the characters that
    /// encodeURIComponent (JavaScript) or quote (Python) leave alone.
    private mutating func addURLForms(_ bytes: [UInt8]) {
        for digits in [Self.upperDigits, Self.lowerDigits] {
            for blank in ["%20", "+"] {
                for kept in ["", "!'()*", "/"] { add(Self.percentEncoded(bytes, digits, blank: blank, kept: kept)) }
            }
        }
    }

    private static func percentEncoded(
        _ bytes: [UInt8], _ digits: [UInt8], blank: String, kept: String
    ) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if byte == 0x20 {
                result += blank.utf8
            } else if isUnreserved(byte) || kept.utf8.contains(byte) {
                result.append(byte)
            } else {
                result.append(0x25)
                append(byte, in: digits, to: &result)
            }
        }
        return result
    }

    /// base64 and base64url, at each of the three places in a group of three bytes at which the secret can begin; only
    /// the characters that it decides alone.
    private mutating func addBase64Forms(_ bytes: [UInt8]) {
        for last in ["+/", "-_"] {
            for shift in 0..<3 {
                let form = Self.base64(bytes, after: shift, last: last)
                add(form)
                if form.count >= Self.shortestWrapped { wrapped.insert(form) }
            }
        }
    }

    private static func base64(_ bytes: [UInt8], after shift: Int, last: String) -> [UInt8] {
        let alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        let input = [UInt8](repeating: 0, count: shift) + bytes
        // 0, 8 or 16 bits before the secret decide the first 0, 2 or 3 characters, or a part of them.
        let first = (shift * 8 + 5) / 6
        return (first..<max(first, input.count * 8 / 6)).map { index in
            let bit = index * 6
            let pair = UInt16(input[bit / 8]) << 8 | UInt16(bit / 8 + 1 < input.count ? input[bit / 8 + 1] : 0)
            return alphabet[Int(pair >> UInt16(10 - bit % 8)) & 0x3F]
        }
    }

    private static let lowerDigits = Array("0123456789abcdef".utf8)
    private static let upperDigits = Array("0123456789ABCDEF".utf8)

    private static func append(_ byte: UInt8, in digits: [UInt8], to form: inout [UInt8]) {
        form.append(digits[Int(byte >> 4)])
        form.append(digits[Int(byte & 0xF)])
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "-._~".utf8.contains(byte)
    }

    /// Without blanks at both ends: a tool that prints a line indents it anew.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var line = line.drop { $0 == 0x20 || $0 == 0x09 }
        while line.last == 0x20 || line.last == 0x09 { line.removeLast() }
        return Array(line)
    }

    private static func replacing(_ old: [UInt8], by new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        bytes.contains(old[0]) ? bytes.flatMap { $0 == old[0] ? new : [$0] } : bytes
    }
}

/// How a JSON writer escapes what it need not escape.
private struct JSONStyle {
    /// PHP.
    var escapesSlash = false
    /// Go.
    var escapesHTML = false
    /// Python.
    var isASCII = false

    static let all = [
        JSONStyle(), JSONStyle(escapesSlash: true), JSONStyle(escapesHTML: true), JSONStyle(isASCII: true),
        JSONStyle(escapesSlash: true, isASCII: true),
    ]

    func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result = ""
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{8}": result += "\\b"
            case "\u{C}": result += "\\f"
            case "/" where escapesSlash: result += "\\/"
            case "<" where escapesHTML, ">" where escapesHTML, "&" where escapesHTML: result += escape(scalar)
            case _ where scalar.value < 0x20 || isASCII && !scalar.isASCII: result += escape(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return Array(result.utf8)
    }

    private func escape(_ scalar: Unicode.Scalar) -> String {
        String(scalar).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }.joined()
    }
}
