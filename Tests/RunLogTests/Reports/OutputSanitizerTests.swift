import Basics
import FlowrunTestSupport
import Testing

@testable import RunLog

@Suite struct OutputSanitizerTests {
    /// Told in escaped form, lest the test's own name reach a terminal raw.
    struct Example: Sendable, CustomTestStringConvertible {
        let input: String
        let output: String
        var testDescription: String { input.debugDescription }

        init(_ input: String, _ output: String) {
            self.input = input
            self.output = output
        }
    }

    private func shown(_ chunks: [[UInt8]], mark: String = "| ", keepsColors: Bool = false) -> [UInt8] {
        var sanitizer = OutputSanitizer(mark: mark, keepsColors: keepsColors)
        var output = ByteBuffer()
        for chunk in chunks { chunk.withUnsafeBytes { sanitizer.append($0, to: &output) } }
        sanitizer.finish(to: &output)
        return output.bytes
    }

    private func shown(_ text: String, keepsColors: Bool = false) -> String {
        String(decoding: shown([Array(text.utf8)], keepsColors: keepsColors), as: UTF8.self)
    }

    @Test(arguments: [
        Example("", ""),
        Example("a\nb\n", "| a\n| b\n"),
        Example("a", "| a\n"),
        Example("\n\na\n", "| \n| \n| a\n"),
        Example("a\r\nb\r\n", "| a\n| b\n"),
        Example("10%\r20%\r\n", "| 10%\n| 20%\n"),
        Example("a\r\r\nb", "| a\n| \n| b\n"),
        Example("a\tb", "| a\tb\n"),
        Example("\u{1B}[31mred\u{1B}[0m", "| red\n"),
        Example("\u{1B}[1;38:2:1:2:3mred\u{1B}[m\n", "| red\n"),
        Example("\u{1B}[01m\u{1B}[Kfoo.c:\u{1B}[m\u{1B}[K", "| foo.c:\n"),
        Example("\u{1B}[2J\u{1B}[1;1H", "| \\x1b[2J\\x1b[1;1H\n"),
        Example("\u{1B}[1K", "| \\x1b[1K\n"),
        Example("\u{1B}]0;owned\u{07}", "| \\x1b]0;owned\\x07\n"),
        Example("\u{1B}c\u{1B}", "| \\x1bc\\x1b\n"),
        Example("\u{1B}[31", "| \\x1b[31\n"),
        Example("\u{9B}31m\u{85}\u{7F}\u{0}\u{8}", "| \\x9b31m\\x85\\x7f\\x00\\x08\n"),
        Example("größe ✓ 🎉\u{A0}!", "| größe ✓ 🎉\u{A0}!\n"),
    ])
    func `without colours only printable text passes`(example: Example) {
        #expect(shown(example.input) == example.output)
    }

    @Test func `ill-formed UTF-8 is repaired as a decoder of strings would`() {
        let bytes: [UInt8] = [0x61, 0x9B, 0xF0, 0x9F, 0x62, 0xED, 0xA0, 0x80, 0xC3]
        #expect(String(decoding: shown([bytes]), as: UTF8.self) == "| \(String(decoding: bytes, as: UTF8.self))\n")
    }

    @Test(arguments: [
        Example("\u{1B}[31mred\u{1B}[0m\n", "| \u{1B}[31mred\u{1B}[0m\n"),
        Example("\u{1B}[31mred", "| \u{1B}[31mred\u{1B}[0m\n"),
        Example(
            "\u{1B}[31mred\nstill\u{1B}[m\nplain\n",
            "| \u{1B}[31mred\u{1B}[0m\n| \u{1B}[31mstill\u{1B}[m\n| plain\n"),
        Example("\u{1B}[1m\u{1B}[0;31ma\nb", "| \u{1B}[1m\u{1B}[0;31ma\u{1B}[0m\n| \u{1B}[0;31mb\u{1B}[0m\n"),
        Example("\u{1B}[2J", "| \\x1b[2J\n"),
    ])
    func `colours pass where they are wanted and end with their line`(example: Example) {
        #expect(shown(example.input, keepsColors: true) == example.output)
    }

    @Test func `a colour cannot hide the mark of the next line`() {
        #expect(shown("\u{1B}[8m\n    0.001  success", keepsColors: true).contains("\u{1B}[0m\n| "))
    }

    @Test func `colours that are only ever added do not pile up`() {
        let many = String(repeating: "\u{1B}[38;5;1m", count: 1000)
        #expect(shown(many + "\nx\n", keepsColors: true).utf8.count < 1000 * 9 + 300)
    }

    @Test func `where the input is cut makes no difference`() {
        var random = SeededGenerator(seed: 7)
        for round in 0..<1500 {
            let bytes = random.hostileBytes(upTo: 120)
            var chunks: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...9, using: &random))
                chunks.append(Array(bytes[start..<end]))
                start = end
            }
            let keepsColors = round.isMultiple(of: 2)
            #expect(shown(chunks, keepsColors: keepsColors) == shown([bytes], keepsColors: keepsColors))
        }
    }

    @Test(arguments: ["a", "é", "中"])
    func `what a block of text holds is judged as alone, wherever it stands`(filler: Character) {
        for sequence in borderSequences {
            for place in [0, 1, 2, 31, 59, 60, 61, 62, 63, 64, 65] {
                let bytes =
                    Array(String(repeating: filler, count: place).utf8) + sequence
                    + Array(String(repeating: filler, count: 150).utf8)
                // Blocks begin with a line end.
                let text = [0x0A] + bytes
                #expect(shown([text]) == shown(text.map { [$0] }), "\(sequence) at \(place)")
            }
        }
    }

    @Test func `a colour that is not wanted begins no line behind a long text`() {
        let text = String(repeating: "plain\n", count: 100)
        let lines = String(repeating: "| plain\n", count: 100)
        let colors = String(repeating: "\u{1B}[31m", count: 100)
        #expect(shown(text + colors) == lines)
        #expect(shown(text + colors + "\n") == lines + "| \n")
    }

    @Test(arguments: ["| ", "", "[a-step-with-quite-a-long-name] "])
    func `long text is shown as if it came byte by byte, wherever it is cut`(mark: String) {
        var random = SeededGenerator(seed: 11)
        for round in 0..<150 {
            let bytes = random.longText(upTo: 3000)
            var chunks: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...1500, using: &random))
                chunks.append(Array(bytes[start..<end]))
                start = end
            }
            let keepsColors = round.isMultiple(of: 2)
            let slowly = shown(bytes.map { [$0] }, mark: mark, keepsColors: keepsColors)
            #expect(shown([bytes], mark: mark, keepsColors: keepsColors) == slowly)
            #expect(shown(chunks, mark: mark, keepsColors: keepsColors) == slowly)
        }
    }

    @Test func `whatever comes in, every line is marked, valid and free of control characters`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<1500 {
            let output = shown([random.hostileBytes(upTo: 120)])
            #expect(Array(String(decoding: output, as: UTF8.self).utf8) == output)
            #expect(output.isEmpty || output.last == UInt8(ascii: "\n"))
            for line in output.split(separator: UInt8(ascii: "\n")) {
                #expect(line.starts(with: "| ".utf8))
                let controls = String(decoding: line, as: UTF8.self).unicodeScalars.filter {
                    $0 != "\t" && ($0.value < 0x20 || (0x7F...0x9F).contains($0.value))
                }
                #expect(controls.isEmpty)
            }
        }
    }
}
