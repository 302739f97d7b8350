/// Turns libyaml's marks, which count characters, into byte offsets.
///
/// Marks come nearly in order, so the cursor walks from the last one it was asked about; ASCII text needs no walk.
struct CharacterOffsets {
    private let source: UnsafeBufferPointer<UInt8>
    private let isASCII: Bool
    /// The bytes before the first character: a byte order mark.
    private let base: Int
    private var character = 0
    private var byte: Int

    init(source: UnsafeBufferPointer<UInt8>, base: Int, isASCII: Bool) {
        self.source = source
        self.base = base
        self.isASCII = isASCII
        byte = base
    }

    mutating func offset(ofCharacter index: Int) -> Int {
        if isASCII { return min(index + base, source.count) }
        while character < index, byte < source.count {
            byte += 1
            while byte < source.count, source[byte] & 0xC0 == 0x80 { byte += 1 }
            character += 1
        }
        while character > index, byte > base {
            byte -= 1
            while byte > base, source[byte] & 0xC0 == 0x80 { byte -= 1 }
            character -= 1
        }
        return byte
    }
}
