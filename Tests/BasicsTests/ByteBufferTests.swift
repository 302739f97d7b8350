import Basics
import FlowrunTestSupport
import Testing

struct ByteBufferTests {
    @Test(
        arguments: [
            (0, 1, "0"), (7, 3, "007"), (9, 1, "9"), (10, 1, "10"), (12_345, 2, "12345"),
            (99, 20, "00000000000000000099"),
            (UInt.max, 1, "18446744073709551615"), (10_000_000_000_000_000_000, 1, "10000000000000000000"),
        ] as [(UInt, Int, String)])
    func `numbers are written in decimal digits`(number: UInt, padding: Int, text: String) {
        var buffer = ByteBuffer()
        buffer.append(decimal: number, padding: padding)
        #expect(buffer.text == text)
    }

    @Test func `numbers may be negative`() {
        var buffer = ByteBuffer()
        buffer.append(Int.min)
        buffer.append(UInt8(ascii: " "))
        buffer.append(-1)
        #expect(buffer.text == "-9223372036854775808 -1")
    }

    @Test func `it grows, and gives back what one long content needed`() {
        var buffer = ByteBuffer(capacity: 1)
        for round in 0..<3 {
            for number in 0..<5000 { buffer.append(decimal: UInt(number), padding: 4) }
            #expect(buffer.count == 20_000)
            #expect(buffer.bytes.suffix(4) == Array("4999".utf8), "round \(round)")
            buffer.removeAll(keepingAtMost: 100)
            #expect(buffer.count == 0)
        }
    }

    @Test func `room is made in front of what has just been written`() {
        var buffer = ByteBuffer()
        buffer.append(literal: "a")
        buffer.append(literal: "12")
        buffer.insert(repeating: UInt8(ascii: "."), count: 3, at: 1)
        buffer.insert(repeating: UInt8(ascii: "."), count: -1, at: 1)
        #expect(buffer.text == "a...12")
    }

    @Test(arguments: 0..<40)
    func `plain bytes are copied up to the first that needs care, wherever it stands`(place: Int) {
        for special: UInt8 in [0, 9, 10, 0x1F, 0x22, 0x5C, 0x7F, 0x80, 0xC3, 0xFF] {
            var text = [UInt8](repeating: UInt8(ascii: " "), count: 45)
            text[44] = UInt8(ascii: "~")
            text[place] = special
            let isOnlyJSONs = special == 0x22 || special == 0x5C
            for start in [0, 1, 7] where start <= place {
                text.withUnsafeBytes { text in
                    var json = ByteBuffer()
                    var shown = ByteBuffer()
                    let endOfJSON = json.copyPlain(text, from: start, until: .json)
                    #expect(endOfJSON == place)
                    #expect(json.bytes == Array(text[start..<place]))
                    let endOfShown = shown.copyPlain(text, from: start, until: .unprintable)
                    #expect(endOfShown == (isOnlyJSONs ? 45 : place))
                }
            }
        }
    }

    @Test(arguments: 0...20)
    func `a short text is copied up to its end or the first byte that needs care`(length: Int) {
        for place in 0...length {
            // What follows is not part of the text, and would end the copy if it were read.
            var text = (0..<length).map { UInt8(ascii: "a") + UInt8($0) } + [0, 0]
            if place < length { text[place] = UInt8(ascii: "\"") }
            text.withUnsafeBytes { text in
                var buffer = ByteBuffer(capacity: 1)
                let end = buffer.copyPlain(UnsafeRawBufferPointer(rebasing: text[..<length]), from: 0, until: .json)
                #expect(end == place)
                #expect(buffer.bytes == Array(text[..<place]))
            }
        }
    }

    @Test func `digits are those of the standard library`() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let number = UInt32.random(in: 0...UInt32.max, using: &random) >> UInt32.random(in: 0...31, using: &random)
            var buffer = ByteBuffer(capacity: 1)
            buffer.append(hexadecimal: number, digits: 8)
            let digits = String(number, radix: 16)
            #expect(buffer.text == String(repeating: "0", count: 8 - digits.count) + digits)
            for count in 1...16 {
                let digits = String(String(UInt64(number), radix: 16).suffix(count))
                let padded = String(repeating: "0", count: count - digits.count) + digits
                #expect(UInt64(number).hexadecimal(digits: count) == padded)
            }
            for padding in 1...12 {
                var buffer = ByteBuffer(capacity: 1)
                buffer.append(decimal: UInt(number), padding: padding)
                #expect(buffer.text == String(repeating: "0", count: max(0, padding - "\(number)".count)) + "\(number)")
            }
        }
    }

    @Test func `a fast look at a scalar says what a thorough one says`() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            var bytes = random.hostileBytes(upTo: 8)
            bytes.append(UInt8.random(in: 0...255, using: &random))
            if Bool.random(using: &random) { bytes[0] = UInt8.random(in: 0xC0...0xF8, using: &random) }
            bytes.withUnsafeBytes { bytes in
                guard bytes[0] >= 0x80 else { return }
                let length =
                    if case .scalar(let scalar, let length) = UTF8Sequence(in: bytes, at: 0), scalar >= 0xA0 {
                        length
                    } else {
                        0
                    }
                let word = UTF8Sequence.word(of: bytes, at: 0)
                #expect(UTF8Sequence.lengthOfText(word) == length, "\(Array(bytes))")
            }
        }
    }
}
