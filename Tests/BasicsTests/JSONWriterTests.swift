import Basics
import FlowrunTestSupport
import Foundation
import Testing

@Suite struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var json = JSONWriter()
        write(&json)
        return String(decoding: json.bytes, as: UTF8.self)
    }

    @Test func `containers, fields and values are separated by commas`() {
        let text = written { json in
            json.object { json in
                json.field("id", "a")
                json.field("needs", ["b", "c"])
                json.field("none", [])
                json.object("bound") { json in
                    json.null("seconds")
                    json.field("known", true)
                }
                json.array("levels") { json in
                    json.value(1)
                    json.array { $0.value(false) }
                    json.object { _ in }
                    json.value(-2)
                }
                json.field("missing", nil as String?)
                json.field("last", Int.min)
            }
            json.newline()
            json.value("next")
        }
        #expect(
            text == """
                {"id":"a","needs":["b","c"],"none":[],"bound":{"seconds":null,"known":true},\
                "levels":[1,[false],{},-2],"missing":null,"last":-9223372036854775808}
                "next"
                """)
    }

    @Test(arguments: [
        (Duration.zero, "0"), (.seconds(12), "12"), (.milliseconds(250), "0.25"), (.microseconds(1), "0.000001"),
        (.nanoseconds(999), "0"), (.microseconds(1_500_001), "1.500001"), (.milliseconds(-1500), "-1.5"),
        (.seconds(86_400_000), "86400000"),
    ])
    func `durations are seconds, cut to microseconds`(duration: Duration, text: String) {
        #expect(written { $0.value(duration) } == text)
    }

    @Test func `what readers or terminals could trip over is escaped`() {
        let text = written { $0.value("\"\\/\n\r\t\u{0}\u{1B}\u{7F}\u{85}\u{9F}\u{A0}\u{2028}\u{2029}é✓🎉") }
        #expect(text == ##""\"\\/\n\r\t\u0000\u001b\u007f\u0085\u009f\##u{A0}\u2028\u2029é✓🎉""##)
    }

    @Test func `a key that is not a literal is escaped like any text`() {
        let text = written { json in
            json.object { json in
                json.field("first", 0)
                json.key("a\"\n")
                json.value(1)
            }
        }
        #expect(text == ##"{"first":0,"a\"\n":1}"##)
    }

    @Test func `a buffer is used again`() {
        var json = JSONWriter()
        json.array { $0.value(1) }
        json.removeAll()
        json.array { $0.value(2) }
        #expect(json.bytes == Array("[2]".utf8))
    }

    @Test func `long text is written as each of its characters would be`() {
        var random = SeededGenerator(seed: 12)
        for _ in 0..<100 { expectSameAsAlone(random.longText(upTo: 3000)) }
        for sequence in borderSequences {
            for filler in ["a", "é", "中"] {
                let text = Array(String(repeating: filler, count: 100).utf8)
                for place in [0, 1, 2, 20, 21, 31, 59, 60, 61, 62, 63, 64] {
                    expectSameAsAlone(text.prefix(place * filler.utf8.count) + sequence + text)
                }
            }
        }
    }

    private func expectSameAsAlone(_ bytes: [UInt8]) {
        let characters = String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
            written { $0.value(String(scalar)) }.utf8.dropFirst().dropLast()
        }
        let whole = written { json in bytes.withUnsafeBytes { json.value(repairing: $0) } }
        #expect(Array(whole.utf8.dropFirst().dropLast()) == Array(characters.joined()))
    }

    @Test func `every byte, alone and between others, comes back as a decoder of strings would repair it`() throws {
        for byte in UInt8.min...UInt8.max {
            for bytes in [[byte], Array("12345678".utf8) + [byte] + Array("abc".utf8), [byte, 0xBF, 0x80]] {
                try expectRepaired(bytes)
            }
        }
    }

    @Test func `any bytes come back as a decoder of strings would repair them`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 { try expectRepaired(random.hostileBytes(upTo: 80)) }
        for _ in 0..<100 { try expectRepaired(random.longText(upTo: 3000)) }
    }

    private func expectRepaired(_ bytes: [UInt8]) throws {
        var json = JSONWriter()
        bytes.withUnsafeBytes { json.value(repairing: $0) }
        let isClean = json.bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        #expect(isClean)
        let parsed = try JSONSerialization.jsonObject(with: Data(json.bytes), options: .fragmentsAllowed)
        let string = try #require(parsed as? String)
        #expect(Array(string.unicodeScalars) == Array(String(decoding: bytes, as: UTF8.self).unicodeScalars))
    }
}
