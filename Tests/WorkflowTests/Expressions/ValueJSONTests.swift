import Basics
import FlowrunTestSupport
import Testing
import Workflow

struct `A value in JSON` {
    @Test(arguments: [
        ("null", "null"), (" [ 1 , -2 ] ", "[1,-2]"), ("{\"b\":1,\"a\":{}}", "{\"b\":1,\"a\":{}}"), ("1.50", "1.50"),
        ("1e3", "1e3"),
        ("0.1", "0.1"), ("-0", "-0"), ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"), ("1e999", "1e999"),
        (#""\u00e9\ud83d\ude00\/\b""#, "\"é😀/\\u0008\""), (#""\u0000""#, #""\u0000""#), ("[]", "[]"),
    ])
    func `is read and written compactly`(text: String, expected: String) throws {
        #expect(try Value(json: text).json == expected)
    }

    @Test(arguments: [
        ("", 0, "the text ends where a value is expected"), ("[1,]", 3, "expected a JSON value"),
        ("[1 2]", 3, "expected `,` or `]`"),
        ("{\"a\":1,\"a\":2}", 7, "the object has this name twice"),
        ("{a:1}", 1, "expected a name in double quotes"),
        ("01", 0, "a number cannot begin with 0"), ("1.", 2, "expected a digit"), ("-", 1, "expected a digit"),
        ("1e", 2, "expected a digit"),
        ("nul", 0, "expected a JSON value"),
        ("1 1", 2, "text follows the value"),
        ("\"a", 0, "the text that begins here is not closed"),
        ("\"\n\"", 1, "a control character has to be written as an escape"),
        (#""\ud800""#, 1, "this is half of a surrogate pair"),
        (#""\ud800\u0041""#, 1, "this is half of a surrogate pair"),
        (#""\x""#, 1, "unknown escape"), (#""\u12g4""#, 3, "expected four hexadecimal digits"),
        (String(repeating: "[", count: 100_000), 64, "the nesting is deeper than 64 levels"),
    ])
    func `is refused with the place`(text: String, offset: Int, message: String) {
        let problem = #expect(throws: JSONError.self) { try Value(json: text) }
        #expect(problem?.offset == offset && problem?.message == message)
    }

    @Test func `comes back as it was`() throws {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<2000 {
            let value = Self.value(depth: 4, &random)
            #expect(try Value(json: value.json).json == value.json)
            #expect(try Value(json: value.json).isEqual(to: value))
        }
    }

    private static func value(depth: Int, _ random: inout SeededGenerator) -> Value {
        switch Int.random(in: 0..<(depth == 0 ? 5 : 7), using: &random) {
        case 0: .null
        case 1: .bool(.random(using: &random))
        case 2: .int(.random(in: .min ... .max, using: &random))
        case 3: .decimal(WrittenNumber(.random(in: -1e6...1e6, using: &random)))
        case 4: .string(text(&random))
        case 5: .list((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth: depth - 1, &random) })
        default:
            .object(
                (0..<Int.random(in: 0..<4, using: &random)).map { index in
                    Value.Field(name: "\(index)" + text(&random), value: value(depth: depth - 1, &random))
                })
        }
    }

    private static func text(_ random: inout SeededGenerator) -> String {
        String(
            String.UnicodeScalarView(
                (0..<Int.random(in: 0..<6, using: &random)).map { _ in
                    Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &random)) ?? "x"
                }))
    }
}
