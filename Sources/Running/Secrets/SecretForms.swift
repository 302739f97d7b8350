/// The byte sequences by which a secret can be recognized in the output of programs: itself, its lines, and the
/// encodings that tools put it into on the way to a log.
///
/// Each form has at least `minimum` bytes, because shorter ones occur in every text. A secret that is turned into
/// anything else (compression, encryption, one letter per line) is not seen.
struct SecretForms {
    /// The fewest bytes of a form, and of a secret.
    static let minimum = 4

    /// Without duplicates.
    private(set) var all: Set<[UInt8]> = []
    /// Forms that tools break into lines: base64, base32 and hexadecimal digits, if they are too long to occur by
    /// chance.
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
        // `echo $TOKEN | base64`: a character is decided by the end of the secret and the line feed together.
        for bytes in [bytes, bytes + [0x0A]] {
            for alphabet in Alphabet.all { addForms(of: bytes, in: alphabet) }
        }
        for digits in [Self.lowerDigits, Self.upperDigits] {
            var form: [UInt8] = []
            for byte in bytes { Self.append(byte, in: digits, to: &form) }
            addWrapped(form)
        }
    }

    private mutating func add(_ form: [UInt8]) {
        if form.count >= Self.minimum { all.insert(form) }
    }

    private mutating func addWrapped(_ form: [UInt8]) {
        add(form)
        if form.count >= Self.shortestWrapped { wrapped.insert(form) }
    }

    /// Adds the text itself, as a JSON string and as a JSON string inside another, in HTML, and as shells show it.
    private mutating func addText(_ bytes: [UInt8]) {
        add(bytes)
        add(Self.replacing([0x27], by: Array(#"'\''"#.utf8), in: bytes))
        for style in JSONStyle.all {
            let string = style.escaped(bytes)
            add(string)
            // The writer of the outer string escapes like that of the inner one, or no more than needed.
            for outer in [style, JSONStyle()] { add(outer.escaped(string)) }
        }
        for style in HTMLStyle.all { add(style.escaped(bytes)) }
        for form in ShellQuoting.forms(of: bytes) { add(form) }
    }

    /// Adds percent-encoding, in both cases of its digits, with the blank as `%20` or `+`, and with the characters
    /// that encodeURIComponent (JavaScript) or quote (Python) leave alone.
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

    /// Adds encodings of the secret at each offset that it can have in a group of bytes; only the characters that it
    /// alone decides.
    private mutating func addForms(of bytes: [UInt8], in alphabet: Alphabet) {
        for shift in 0..<alphabet.groupSize { addWrapped(alphabet.form(of: bytes, after: shift)) }
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

    /// Removes blanks at both ends: a tool that prints a line may indent it differently.
    private static func trimmed(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var line = line.drop { $0 == 0x20 || $0 == 0x09 }
        while line.last == 0x20 || line.last == 0x09 { line.removeLast() }
        return Array(line)
    }

    private static func replacing(_ old: [UInt8], by new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
        bytes.contains(old[0]) ? bytes.flatMap { $0 == old[0] ? new : [$0] } : bytes
    }
}

/// An encoding with five or six bits in a character.
private struct Alphabet {
    let characters: [UInt8]
    let bits: Int

    private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    /// base64, base64url and base32.
    static let all =
        ["+/", "-_"].map { Alphabet(letters + letters.lowercased() + "0123456789" + $0, bits: 6) }
        + [Alphabet(letters + "234567", bits: 5)]

    private init(_ characters: String, bits: Int) {
        self.characters = Array(characters.utf8)
        self.bits = bits
    }

    /// The number of bytes that become whole characters.
    var groupSize: Int { bits == 6 ? 3 : 5 }

    /// Encodes bytes that come after `shift` others of their group.
    func form(of bytes: [UInt8], after shift: Int) -> [UInt8] {
        let input = [UInt8](repeating: 0, count: shift) + bytes
        // The preceding bits decide the first characters, or a part of one.
        let first = (shift * 8 + bits - 1) / bits
        return (first..<max(first, input.count * 8 / bits)).map { index in
            let bit = index * bits
            let pair = UInt16(input[bit / 8]) << 8 | UInt16(bit / 8 + 1 < input.count ? input[bit / 8 + 1] : 0)
            return characters[Int(pair >> UInt16(16 - bits - bit % 8)) & (1 << bits - 1)]
        }
    }
}

/// Forms of quotes in HTML and XML, which differ from tool to tool.
private struct HTMLStyle {
    let quote: String
    let apostrophe: String

    static let all = [
        // Python; Go and Jinja; PHP; JavaScript and Ruby; XML.
        HTMLStyle(quote: "&quot;", apostrophe: "&#x27;"), HTMLStyle(quote: "&#34;", apostrophe: "&#39;"),
        HTMLStyle(quote: "&quot;", apostrophe: "&#039;"), HTMLStyle(quote: "&quot;", apostrophe: "&#39;"),
        HTMLStyle(quote: "&quot;", apostrophe: "&apos;"),
        // Between tags.
        HTMLStyle(quote: "&quot;", apostrophe: "'"), HTMLStyle(quote: "\"", apostrophe: "'"),
    ]

    func escaped(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { "&<>\"'".utf8.contains($0) }) else { return bytes }
        return bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            case UInt8(ascii: ">"): Array("&gt;".utf8)
            case UInt8(ascii: "\""): Array(quote.utf8)
            case UInt8(ascii: "'"): Array(apostrophe.utf8)
            default: [byte]
            }
        }
    }
}

/// The ways in which bash shows a word that could be typed: `printf %q`, `declare -p`, `set -x`.
private enum ShellQuoting {
    static func forms(of bytes: [UInt8]) -> [[UInt8]] {
        [escaped(bytes), quoted(bytes, keepsText: true), quoted(bytes, keepsText: false), inDoubleQuotes(bytes)]
    }

    /// Puts a backslash before each character that has a meaning.
    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var form: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isSpecial = "\t\n !\"$&'()*,;<>?[\\]^`{|}".utf8.contains(byte)
            // The home folder, after a character that may precede one.
            let isHome = byte == UInt8(ascii: "~") && index > 0 && ":=".utf8.contains(bytes[index - 1])
            if isSpecial || isHome { form.append(UInt8(ascii: "\\")) }
            form.append(byte)
        }
        return form
    }

    /// Returns the inside of `$'…'`; the form of characters outside ASCII depends on the locale.
    private static func quoted(_ bytes: [UInt8], keepsText: Bool) -> [UInt8] {
        bytes.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x07: Array(#"\a"#.utf8)
            case 0x08: Array(#"\b"#.utf8)
            case 0x09: Array(#"\t"#.utf8)
            case 0x0A: Array(#"\n"#.utf8)
            case 0x0B: Array(#"\v"#.utf8)
            case 0x0C: Array(#"\f"#.utf8)
            case 0x0D: Array(#"\r"#.utf8)
            case 0x1B: Array(#"\E"#.utf8)
            case UInt8(ascii: "\\"), UInt8(ascii: "'"): [UInt8(ascii: "\\"), byte]
            case 0x20..<0x7F: [byte]
            case 0x80... where keepsText: [byte]
            default: [UInt8(ascii: "\\")] + [byte >> 6, byte >> 3 & 7, byte & 7].map { UInt8(ascii: "0") + $0 }
            }
        }
    }

    private static func inDoubleQuotes(_ bytes: [UInt8]) -> [UInt8] {
        bytes.flatMap { "\"$\\`".utf8.contains($0) ? [UInt8(ascii: "\\"), $0] : [$0] }
    }
}

/// The characters that a JSON writer escapes without having to.
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

/// The beginning of a form of a secret that is interrupted by bytes that do not show: colours, or the line ends that
/// tools break base64 with.
///
/// It begins where such bytes interrupt a possible form, goes on over them, and is over once none of them is inside
/// it any longer.
struct BrokenForm: Sendable {
    /// The maximum number of bytes in a row that do not count; more are no colour.
    private static let longestBreak = 256

    private let automaton: FormAutomaton
    private var state: UInt32
    /// The places in the stream of the bytes of the state's text; those before `first` are done with.
    private var places: [Int]
    private var first = 0
    private var lastBreak: Int

    /// `state` is that of the automaton after the bytes at `places`, which end before the break at `place`.
    init(_ automaton: FormAutomaton, state: UInt32, places: Range<Int>, brokenAt place: Int) {
        self.automaton = automaton
        self.state = state
        self.places = Array(places)
        lastBreak = place
    }

    /// The place where it begins.
    var start: Int { places[first] }

    /// Skips a byte that does not count. Returns true if the form goes on.
    mutating func skip(_ place: Int) -> Bool {
        lastBreak = place
        return place - places[places.count - 1] <= Self.longestBreak
    }

    /// Appends a byte that counts. Calls `found` with the longest form that ends with it, from its first byte to its
    /// last. Returns true if the form goes on.
    mutating func append(_ byte: UInt8, at place: Int, found: (ClosedRange<Int>) -> Void) -> Bool {
        state = automaton.next(state, byte)
        places.append(place)
        let depth = Int(automaton.states[Int(state)].depth)
        first = places.count - depth
        let length = Int(automaton.states[Int(state)].match)
        if length > 0 { found(places[places.count - length]...place) }
        if first > 4096, first > places.count / 2 {
            places.removeFirst(first)
            first = 0
        }
        return depth > 0 && start < lastBreak
    }
}

/// Separates the bytes of a terminal's control sequences (ESC `[` … letter) from text, one by one.
struct ControlSequences: Sendable {
    private enum Position {
        case text, escape, sequence
    }

    private var position = Position.text

    /// Returns true if the next byte belongs to a sequence. An ESC that begins none counts as one, too.
    mutating func includes(_ byte: UInt8) -> Bool {
        switch (position, byte) {
        case (_, 0x1B): position = .escape
        case (.escape, UInt8(ascii: "[")): position = .sequence
        case (.sequence, 0x20...0x3F): break
        case (.sequence, 0x40...0x7E):
            position = .text
            return true
        default:
            position = .text
            return false
        }
        return true
    }
}
