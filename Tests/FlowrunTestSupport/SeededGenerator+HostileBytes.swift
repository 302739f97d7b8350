extension SeededGenerator {
    /// Bytes of a kind that finds mistakes: pieces of escape sequences, of UTF-8 and of line ends are common.
    package mutating func hostileBytes(upTo count: Int) -> [UInt8] {
        let pieces: [[UInt8]] = [
            Array("plain text".utf8), Array("\u{1B}[31m".utf8), Array("\u{1B}[0m".utf8), Array("\u{1B}[2J".utf8),
            Array("\u{1B}[K".utf8), Array("\u{1B}]0;title\u{07}".utf8), [0x1B], [0x0D], [0x0A], [0x0D, 0x0A],
            [0x9B], Array("\u{9B}31m".utf8), Array("größe ✓ 🎉".utf8), [0xF0, 0x9F], [0xE2, 0x82], [0xC3], [0xED, 0xA0],
            [0x22, 0x5C], Array("\u{2028}".utf8), [0x09], [0x7F], [0x00],
        ]
        var bytes: [UInt8] = []
        while bytes.count < count {
            if Bool.random(using: &self) {
                bytes += pieces.randomElement(using: &self)!
            } else {
                bytes.append(UInt8.random(in: 0...255, using: &self))
            }
        }
        return Array(bytes.prefix(Int.random(in: 0...count, using: &self)))
    }
}
