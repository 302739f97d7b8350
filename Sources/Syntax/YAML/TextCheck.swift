/// Checks the bytes before the YAML parser reads them: a workflow file is UTF-8 without control characters.
struct TextCheck {
    private(set) var isASCII = true
    private(set) var diagnostics: [Diagnostic] = []
    private let file: SourceFile

    init(_ file: SourceFile) {
        self.file = file
        if file.bytes.starts(with: [0xFF, 0xFE]) || file.bytes.starts(with: [0xFE, 0xFF]) {
            diagnostics = [
                Diagnostic(
                    .invalidEncoding, "the file is UTF-16, a workflow file is UTF-8", in: file, at: .beginning,
                    fix: .init("convert it, for instance with `iconv -f UTF-16 -t UTF-8`"))
            ]
            return
        }
        file.bytes.withUnsafeBufferPointer { check($0) }
    }

    private mutating func check(_ bytes: UnsafeBufferPointer<UInt8>) {
        var offset = 0
        while offset < bytes.count, diagnostics.count < YAMLLimits.byteFindings {
            offset = Self.endOfPlainASCII(bytes, from: offset)
            guard offset < bytes.count else { return }
            offset += checkScalar(bytes, at: offset)
        }
    }

    /// Walks over printable ASCII, tabs and line ends, eight bytes at a time.
    private static func endOfPlainASCII(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var offset = start
        let raw = UnsafeRawBufferPointer(bytes)
        while offset + 8 <= bytes.count {
            let word = raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            // Most words hold nothing but printable ASCII, which a single test shows: a carry or borrow between bytes
            // makes a byte suspect at worst.
            if ((word &- every(0x20)) | (word &+ every(0x01)) | word) & highBits == 0 {
                offset += 8
                continue
            }
            // One flag per byte, in its highest bit. Every subtraction and sum stays inside its byte.
            let belowBlank = ~((word | highBits) &- every(0x20)) & highBits
            let lineEndsAndTabs = flags(of: 0x0A, in: word) | flags(of: 0x0D, in: word) | flags(of: 0x09, in: word)
            if (belowBlank & ~lineEndsAndTabs) | (word & highBits) | flags(of: 0x7F, in: word) != 0 { break }
            offset += 8
        }
        while offset < bytes.count, isPlain(bytes[offset]) { offset += 1 }
        return offset
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    private static func every(_ byte: UInt64) -> UInt64 { byte &* 0x0101_0101_0101_0101 }

    /// The high bit of every byte of `word` that equals `byte`.
    private static func flags(of byte: UInt64, in word: UInt64) -> UInt64 {
        let difference = word ^ every(byte)
        return ~(((difference & ~highBits) &+ ~highBits) | difference) & highBits
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 ? byte <= 0x7E : byte == 9 || byte == 10 || byte == 13
    }

    /// Reports a mistake in the character at `offset`, if there is one, and returns the length of the character.
    private mutating func checkScalar(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> Int {
        let first = bytes[offset]
        if first < 0x80 {
            let isNUL = first == 0
            add(
                .controlCharacter, isNUL ? "the file has a NUL byte" : "the file has \(Self.name(UInt32(first)))",
                at: offset..<offset + 1,
                fix: isNUL
                    ? "remove it; a file full of them is not text, or is UTF-16"
                    : "remove it, or write it as an escape in double quotes, such as \"\\e\"")
            return 1
        }
        isASCII = false
        guard let (value, length) = Self.decode(bytes, at: offset) else {
            add(
                .invalidEncoding, "byte 0x\(String(first, radix: 16, uppercase: true)) is not UTF-8",
                at: offset..<offset + 1, fix: "save the file as UTF-8")
            return 1
        }
        let isAllowed = value >= 0xA0 && value != 0xFFFE && value != 0xFFFF || value == 0x85
        if !isAllowed {
            add(
                .controlCharacter, "the file has \(Self.name(value))", at: offset..<offset + length, fix: "remove it")
        }
        return length
    }

    /// Returns the scalar value at `offset` and its length in bytes; nil if the bytes are not UTF-8.
    private static func decode(_ bytes: UnsafeBufferPointer<UInt8>, at offset: Int) -> (value: UInt32, length: Int)? {
        let first = bytes[offset]
        let length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0
        guard length > 0, offset + length <= bytes.count else { return nil }
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for next in bytes[offset + 1..<offset + length] {
            guard next & 0xC0 == 0x80 else { return nil }
            value = value << 6 | UInt32(next & 0x3F)
        }
        let smallest: UInt32 = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000
        guard value >= smallest, Unicode.Scalar(value) != nil else { return nil }
        return (value, length)
    }

    private static func name(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return "the control character U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }

    private mutating func add(_ code: DiagnosticCode, _ message: String, at range: Range<Int>, fix: String) {
        diagnostics.append(Diagnostic(code, message, in: file, at: SourceRange(range), fix: .init(fix)))
    }
}
