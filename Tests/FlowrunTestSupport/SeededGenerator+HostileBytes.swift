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

    /// Long text as programs write it: lines of any length in several scripts, with something odd here and there.
    package mutating func longText(upTo count: Int) -> [UInt8] {
        let scripts: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x7E...0xA1, 0xC0...0x24F, 0x7F0...0x810, 0x2020...0x2030, 0x4E00...0x9000, 0xCFF0...0xD7FF,
            0xE000...0xFFFF, 0x1F300...0x1F6FF, 0x10FFF0...0x10FFFF,
        ]
        let oddity = Int.random(in: 5...2000, using: &self)
        var bytes: [UInt8] = []
        while bytes.count < count {
            let script = Int.random(in: 0...2, using: &self) == 0 ? scripts.randomElement(using: &self)! : scripts[0]
            for _ in 0..<Int.random(in: 0...100, using: &self) {
                bytes += String(Unicode.Scalar(UInt32.random(in: script, using: &self))!).utf8
            }
            bytes.append([0x0A, 0x0A, 0x09, 0x20].randomElement(using: &self)!)
            if Int.random(in: 0...oddity, using: &self) < 4 { bytes += hostileBytes(upTo: 8) }
        }
        return Array(bytes.prefix(Int.random(in: 0...count, using: &self)))
    }
}

/// Sequences at both sides of each border between what is well-formed and what is not, or is text and is not.
package let borderSequences: [[UInt8]] = [
    [0x7E], [0x7F], [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2, 0x80], [0xC2, 0x9F], [0xC2, 0xA0], [0xC3],
    [0xC3, 0x41], [0xDF, 0xBF], [0xDF, 0xC0], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE0, 0xA0, 0x80], [0xE1, 0x80],
    [0xE1, 0x80, 0xC3], [0xE2, 0x80, 0xA7], [0xE2, 0x80, 0xA8], [0xE2, 0x80, 0xA9], [0xE2, 0x80, 0xAA],
    [0xE4, 0x80, 0xA8], [0xED, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xEE, 0x80, 0x80],
    [0xEF, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80],
    [0xF0, 0x9F, 0x98], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
]
