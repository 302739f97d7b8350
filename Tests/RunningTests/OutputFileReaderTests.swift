import FlowrunTestSupport
import Foundation
import Syntax
import Testing

@testable import Running
@testable import Workflow

@Suite struct OutputFileReaderTests {
    private static let kinds: KeyValuePairs<String, OutputDeclaration.Kind> = [
        "text": .string, "count": .int, "isGood": .bool, "targets": .list, "any": .json,
    ]

    /// All of `kinds`, or those of the given names.
    private func declarations(_ names: [String]? = nil) -> [OutputDeclaration] {
        Self.kinds.filter { names?.contains($0.key) ?? true }.map { name, kind in
            OutputDeclaration(name: name, source: .file(kind), range: .beginning)
        }
    }

    private func read(_ text: String, _ names: String...) throws -> [Value] {
        try OutputFileReader(declarations(names)).read(Array(text.utf8)).map(\.value)
    }

    private func mistake(_ bytes: [UInt8], _ names: String...) throws -> OutputError {
        try #require(throws: OutputError.self) { try OutputFileReader(declarations(names)).read(bytes) }
    }

    @Test(arguments: [
        "text=a=b\ncount=7\nisGood=true\ntargets=[\"x\",{\"y\":1}]\nany=null\n",
        "any=null\n\ntargets<<EOF\n[\"x\",\n {\"y\": 1}]\nEOF\ncount= 7 \nisGood=true\ntext=a=b",
        #"  {"text": "a=b", "count": 7, "isGood": true, "targets": ["x", {"y": 1}], "any": null} "# + "\n",
        "\u{FEFF}text=old\ntext=a=b\ncount=1\ncount=7\nisGood=true\ntargets=[\"x\",{\"y\":1}]\nany=null\n",
    ])
    func `lines, here-documents and a JSON object say the same`(text: String) throws {
        let fields = try OutputFileReader(declarations()).read(Array(text.utf8))
        #expect(fields.map(\.name) == ["text", "count", "isGood", "targets", "any"])
        let item = Value.object([.init(name: "y", value: .int(1))])
        #expect(fields.map(\.value) == [.string("a=b"), .int(7), .bool(true), .list([.string("x"), item]), .null])
    }

    @Test(arguments: [
        ("text=", ""), ("text= a ", " a "), ("text=a\r\n", "a\r"), ("text==", "="), ("text=<<EOF", "<<EOF"),
        ("text<<E\nE\n", ""), ("text<<E\n\nE\n", ""), ("text<<E\na\n\nE\n", "a\n"), ("text<<E\na\n E\nE", "a\n E"),
        ("text<<a=b\nx\na=b\n", "x"), ("text<<E\nother=1\nE\n", "other=1"), (#"{"text": "\u0000\ud83c\udf89"}"#, "\0🎉"),
        ("text=${{ params.x }}", "${{ params.x }}"),
    ])
    func `a string keeps every byte`(file: String, text: String) throws {
        #expect(try read(file, "text") == [.string(text)])
    }

    @Test(arguments: [
        ("count=many", "output `count` has to be a whole number, found `many` (line 1 of $FLOWRUN_OUTPUT)"),
        ("\ncount=1.0", "output `count` has to be a whole number, found `1.0` (line 2 of $FLOWRUN_OUTPUT)"),
        ("count=", "output `count` has to be a whole number, found `` (line 1 of $FLOWRUN_OUTPUT)"),
        (
            "counts=1",
            "wrote the output `counts`, which it does not declare; did you mean `count`? (line 1 of $FLOWRUN_OUTPUT)"
        ),
        (
            "count =1",
            "wrote the output `count `, which it does not declare; did you mean `count`? (line 1 of $FLOWRUN_OUTPUT)"
        ),
        ("count=1\nnonsense", "expected `name=value` or `name<<END`, found `nonsense` (line 2 of $FLOWRUN_OUTPUT)"),
        ("count<<E\n1\n", "output `count` is not closed by a line `E` (line 1 of $FLOWRUN_OUTPUT)"),
        ("count<<\n1\n", "output `count` has no end word after `<<` (line 1 of $FLOWRUN_OUTPUT)"),
        (#"{"count": "1"}"#, #"output `count` has to be a whole number, found `"1"`"#),
        (#"{"count": 1.5}"#, "output `count` has to be a whole number, found `1.5`"),
        (
            "{\n\"count\" 1}",
            "wrote something that begins like a JSON object but is not one: expected `:` (line 2 of $FLOWRUN_OUTPUT)"
        ),
        ("", "did not write the declared output `count` to $FLOWRUN_OUTPUT"),
        ("{}", "did not write the declared output `count` to $FLOWRUN_OUTPUT"),
    ])
    func `a mistake is told with its line`(file: String, message: String) throws {
        #expect(try mistake(Array(file.utf8), "count").message == message)
    }

    @Test(arguments: [
        ("isGood=yes", "output `isGood` has to be `true` or `false`, found `yes` (line 1 of $FLOWRUN_OUTPUT)"),
        (
            "isGood=true\ntargets={}",
            "output `targets` has to be a JSON array, found `{}` (line 2 of $FLOWRUN_OUTPUT)"
        ),
        (
            "isGood=true\ntargets=a,b",
            "output `targets` has to be a JSON array, found `a,b`: expected a JSON value (line 2 of $FLOWRUN_OUTPUT)"
        ),
        ("\n", "did not write the declared outputs `isGood`, `targets` to $FLOWRUN_OUTPUT"),
    ])
    func `other types have mistakes of their own`(file: String, message: String) throws {
        #expect(try mistake(Array(file.utf8), "isGood", "targets").message == message)
    }

    @Test func `what is not UTF-8 is refused with its line`() throws {
        #expect(try mistake(Array("text=a\ntext=".utf8) + [0xFF], "text").line == 2)
        #expect(try mistake(Array("text<<E\na\nb".utf8) + [0xC3, 0x0A] + Array("E\n".utf8), "text").line == 3)
        #expect(try mistake(Array("{\n\"text\":\n\"".utf8) + [0xFF] + Array("\"}".utf8), "text").line == 3)
    }

    @Test func `a file of more than 1 MiB is refused, one of 1 MiB is read`() throws {
        let most = Array("text=".utf8) + [UInt8](repeating: 0x61, count: (1 << 20) - 5)
        #expect(try OutputFileReader(declarations(["text"])).read(most).count == 1)
        #expect(try mistake(most + [0x61], "text").message.contains("more than 1 MiB"))
    }

    @Test func `an output that comes from elsewhere is not to be found in the file`() throws {
        let stdout = OutputDeclaration(name: "version", source: .standardOutput(.string), range: .beginning)
        #expect(try OutputFileReader([stdout]).read([]).isEmpty)
        let error = try #require(throws: OutputError.self) {
            try OutputFileReader([stdout]).read(Array("version=1".utf8))
        }
        #expect(error.message.contains("taken from standard output"))
    }

    @Test(arguments: [
        (OutputDeclaration.Kind.string, "a\n", Value.string("a")), (.string, "a\n\n", .string("a\n")),
        (.string, "a\r\n", .string("a")), (.string, "", .string("")), (.int, " 12\n", .int(12)),
        (.bool, "true\n", .bool(true)), (.list, "[1]\n", .list([.int(1)])), (.json, "{}\n", .object([])),
        (.lines, "a b\n\n c\r\n", .list([.string("a b"), .string(" c")])), (.lines, "\n", .list([])),
    ])
    func `standard output gives a value by its type`(kind: OutputDeclaration.Kind, text: String, value: Value) throws {
        #expect(try kind.value(ofStandardOutput: Array(text.utf8), for: "output `v`") == value)
    }

    @Test func `standard output that is no value is refused`() throws {
        #expect(throws: OutputError.self) {
            try OutputDeclaration.Kind.int.value(ofStandardOutput: [0x61], for: "output `v`")
        }
        #expect(throws: OutputError.self) {
            try OutputDeclaration.Kind.string.value(ofStandardOutput: [0xFF], for: "output `v`")
        }
        #expect(throws: OutputError.self) {
            try OutputDeclaration.Kind.string.value(
                ofStandardOutput: [UInt8](repeating: 0x61, count: 1 << 20 + 1), for: "output `v`")
        }
    }

    @Test func `hostile texts come back byte for byte in every form`() throws {
        var random = SeededGenerator(seed: 4)
        let reader = OutputFileReader(declarations(["text"]))
        for index in 0..<2000 {
            let text = random.hostileText(upTo: index % 400 == 0 ? 100 << 10 : 60)
            var end = "END"
            while text.contains(end) { end += "X" }
            var files = [
                "text<<\(end)\n\(text)\n\(end)\n",
                String(decoding: try JSONEncoder().encode(["text": text]), as: UTF8.self),
            ]
            if !text.utf8.contains(0x0A) { files.append("text=\(text)\n") }
            for file in files {
                let value = try reader.read(Array(file.utf8)).first?.value
                guard case .string(let found) = value, found.utf8.elementsEqual(text.utf8) else {
                    Issue.record("\(text.debugDescription) came back as \(String(describing: value)) from \(file)")
                    return
                }
            }
        }
    }

    @Test func `random bytes never stop the reader`() throws {
        var random = SeededGenerator(seed: 5)
        let pieces = ["text", "count", "=", "<<", "E", "\n", "{", "}", "\"", ":", "[", ",", "1", "\u{1}", "é"].map {
            Array($0.utf8)
        }
        for _ in 0..<5000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                bytes +=
                    Int.random(in: 0..<9, using: &random) == 0
                    ? [UInt8.random(in: 0...255, using: &random)] : pieces.randomElement(using: &random)!
            }
            // Whatever it says, it comes back.
            _ = try? OutputFileReader(declarations(["text", "count"])).read(bytes)
        }
    }
}

extension SeededGenerator {
    /// Quotes, substitutions, line ends, blanks at the ends, NUL, and what looks like the formats around.
    mutating func hostileText(upTo count: Int) -> String {
        let pieces = [
            "'", "\"", "`id`", "$(id)", "${{ params.x }}", "\\", "\n", "\r\n", "\t", " ", "\0", "--", "-rf", "*", "~",
            "=",
            "<<END", "END", "{\"text\":", "}", "é", "e\u{301}", "🎉", "\u{2028}", "\u{FEFF}", "%s%n", "!!", "a", ";",
            "&&",
        ]
        var text = ""
        let length = Int.random(in: 0...count, using: &self)
        while text.utf8.count < length { text += pieces.randomElement(using: &self)! }
        return text
    }
}
