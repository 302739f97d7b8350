internal import Syntax

// The places of a scalar's characters in the file.
extension ExpressionText {
    /// The value of a scalar that is not an alias. O(length).
    init(_ node: YAMLNode) {
        let bytes = Array(node.bytes)
        let spelling: Spelling =
            if node.isBlockText { .block } else if node.isPlain { .plain } else {
                node.source.first == UInt8(ascii: "'") ? .singleQuoted : .doubleQuoted
            }
        if let verbatim = node.verbatim {
            self.init(bytes, from: verbatim.start, spelling)
        } else {
            var walk = ScalarPlaces(node.source, at: node.range.start)
            self.init(bytes, places: walk.places(of: bytes), spelling)
        }
    }
}

/// Walks over the value and the spelling of a scalar side by side. Folding and indentation change only blanks, and
/// escapes occur only in quotes, so every other character is at the next place of the spelling.
struct ScalarPlaces {
    private let source: UnsafeBufferPointer<UInt8>
    private let start: UInt32
    private let isDouble: Bool
    private let isSingle: Bool
    private var offset = 0

    /// `source` is the scalar's spelling, which begins at `start` in its file. Its first byte determines the style,
    /// because no plain scalar can begin with a quote or an indicator of block text.
    init(_ source: UnsafeBufferPointer<UInt8>, at start: UInt32) {
        self.source = source
        self.start = start
        isDouble = source.first == UInt8(ascii: "\"")
        isSingle = source.first == UInt8(ascii: "'")
        if isDouble || isSingle {
            offset = 1
        } else if source.first == UInt8(ascii: "|") || source.first == UInt8(ascii: ">") {
            // The line with `|` or `>` is not part of the text.
            offset = source.firstIndex(of: UInt8(ascii: "\n")) ?? source.count
        }
    }

    /// Returns the place of the spelling of each byte of the value.
    mutating func places(of value: [UInt8]) -> [SourceRange] {
        var places: [SourceRange] = []
        places.reserveCapacity(value.count)
        var index = 0
        while index < value.count {
            let (place, length) = next(value[index])
            let range = SourceRange(start: start + UInt32(place), end: start + UInt32(offset))
            for _ in 0..<min(length, value.count - index) { places.append(range) }
            index += length
        }
        return places
    }

    /// Returns the place of the value's next byte, and the number of bytes of the value that are spelt there.
    private mutating func next(_ byte: UInt8) -> (place: Int, length: Int) {
        let isBlank = Self.isBlank(byte)
        skipLineContinuations()
        if !isBlank {
            while offset < source.count, Self.isBlank(source[offset]) {
                offset += 1
                skipLineContinuations()
            }
        }
        let place = min(offset, source.count)
        guard offset < source.count else { return (place, 1) }
        if isDouble, source[offset] == UInt8(ascii: "\\") { return (place, escape()) }
        if isSingle, source[offset] == UInt8(ascii: "'") {
            offset += 2
        } else if !isBlank || source[offset] == byte {
            offset += 1
        }
        return (place, 1)
    }

    /// A backslash at the end of a line in double quotes joins it to the next.
    private mutating func skipLineContinuations() {
        guard isDouble else { return }
        while offset + 1 < source.count, source[offset] == UInt8(ascii: "\\"),
            source[offset + 1] == UInt8(ascii: "\n") || source[offset + 1] == UInt8(ascii: "\r")
        {
            offset += 2
            while offset < source.count, Self.isBlank(source[offset]) { offset += 1 }
        }
    }

    /// Steps over an escape and returns the number of bytes of UTF-8 that it means.
    private mutating func escape() -> Int {
        let letter = offset + 1 < source.count ? source[offset + 1] : 0
        let digits =
            switch letter {
            case UInt8(ascii: "x"): 2
            case UInt8(ascii: "u"): 4
            case UInt8(ascii: "U"): 8
            default: 0
            }
        let first = offset + 2
        offset = min(source.count, first + digits)
        switch letter {
        case UInt8(ascii: "N"), UInt8(ascii: "_"): return 2
        case UInt8(ascii: "L"), UInt8(ascii: "P"): return 3
        default: break
        }
        guard digits > 0, first < offset else { return 1 }
        let scalar = UInt32(String(decoding: source[first..<offset], as: UTF8.self), radix: 16)
        return scalar.flatMap(Unicode.Scalar.init).map { UTF8.width($0) } ?? 1
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
}
