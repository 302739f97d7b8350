import FlowrunTestSupport
import Foundation
import Testing

/// Values are never code: whatever a value holds, it arrives byte for byte on every way through a workflow, and nothing
/// in it is ever run. Each way carries all 2,000 texts, in few processes.
struct HostileValueTests {
    private static let count = 2000
    /// Distinct, since a fan-out refuses equal items; none with a NUL, which no process can be given.
    private static let texts = {
        var random = SeededGenerator(seed: 11)
        var texts: [String] = []
        var seen: Set<[UInt8]> = []
        while texts.count < count {
            let text = random.hostileText(
                of: texts.count % 700 == 3 ? 100 << 10 : Int.random(in: 0...60, using: &random))
            if seen.insert(Array(text.utf8)).inserted { texts.append(text) }
        }
        return texts
    }()

    /// `check.py WAY`: what has come that way against what should have.
    private static let checker = #"""
        import json, os, sys
        wanted = [text.encode() for text in json.load(open("texts.json", encoding="utf-8"))]
        way = sys.argv[1]
        if way == "argv":
            found = [os.fsencode(word) for word in sys.argv[2:]]
        elif way == "stdin":
            found = [text.encode() for text in json.load(sys.stdin)]
        elif way == "params":
            found = [os.environb[b"P%d" % index] for index in range(int(sys.argv[2]))]
            for name in sys.argv[3:]:
                found += [text.encode() for text in json.loads(os.environ[name])]
        elif way == "env":
            found = [os.environb[b"V%d" % index] for index in range(len(wanted))]
        elif way == "files":
            names = [name for name in os.listdir("out") if name.endswith(sys.argv[2])]
            found = sorted(open("out/" + name, "rb").read() for name in names)
            wanted.sort()
        for index, (one, other) in enumerate(zip(wanted, found)):
            if one != other:
                sys.exit(f"{way} {index}: wanted {one[:200]!r}, found {other[:200]!r}")
        if len(wanted) != len(found):
            sys.exit(f"{way}: wanted {len(wanted)} texts, found {len(found)}")
        print("same", way, len(found))
        """#

    private func test(_ workflow: String, files: [String: String] = [:]) throws -> FlowrunTest {
        let test = try FlowrunTest("version: 1\n" + workflow, files: files)
        try test.write(Self.checker, to: "check.py")
        try test.write(try Self.json(Self.texts), to: "texts.json")
        return test
    }

    private func expectSame(_ test: FlowrunTest, _ ways: [String], options: [String] = []) async throws {
        let result = try await test.start(
            ["workflow.yml", "--log", "json"] + options, deadline: FlowrunTest.deadline
        ).finish()
        result.expect(exit: 0)
        let log = try result.log()
        for way in ways { #expect(log.output(of: way).hasPrefix("same \(way) \(Self.count)\n")) }
        #expect(!test.exists("CANARY"), "a value was run")
    }

    @Test func `outputs come back on standard input, in an argv and in the environment`()
        async throws
    {
        let words = Self.texts.indices.map { #""${{ steps.make.outputs.texts[\#($0)] ?? 'absent' }}""# }
        let variables = Self.texts.indices.map { #"V\#($0): "${{ steps.make.outputs.texts[\#($0)] ?? 'absent' }}""# }
        let test = try test(
            """
            steps:
              make: { run: cat object.json >> "$FLOWRUN_OUTPUT", outputs: { texts: list } }
              stdin: { needs: [make], stdin: "${{ toJSON(steps.make.outputs.texts) }}", run: python3 check.py stdin }
              argv: { needs: [make], run: [python3, check.py, argv, \(words.joined(separator: ", "))] }
              env: { needs: [make], env: { \(variables.joined(separator: ", ")) }, run: python3 check.py env }
            """, files: ["object.json": "{\"texts\": \(try Self.json(Self.texts))}"])
        try await expectSame(test, ["stdin", "argv", "env"])
    }

    @Test func `outputs in lines and here-documents come back`() async throws {
        let declarations = Self.texts.indices.map { "o\($0): string" }
        let variables = Self.texts.indices.map { #"V\#($0): "${{ steps.make.outputs.o\#($0) }}""# }
        let lines = Self.texts.enumerated().map { index, text in
            text.utf8.contains(0x0A) ? "o\(index)<<=END=\n\(text)\n=END=\n" : "o\(index)=\(text)\n"
        }
        let test = try test(
            """
            steps:
              make:
                run: cat lines >> "$FLOWRUN_OUTPUT"
                outputs: { \(declarations.joined(separator: ", ")) }
              env: { needs: [make], env: { \(variables.joined(separator: ", ")) }, run: python3 check.py env }
            """, files: ["lines": lines.joined()])
        try await expectSame(test, ["env"])
    }

    @Test func `values of the file come as they are written there`() async throws {
        let variables = Self.texts.enumerated().map { "V\($0): \(Self.yaml($1))" }
        let words = Self.texts.map(Self.yaml)
        let test = try test(
            """
            steps:
              env: { env: { \(variables.joined(separator: ", ")) }, run: python3 check.py env }
              argv: { run: [python3, check.py, argv, \(words.joined(separator: ", "))] }
            """)
        try await expectSame(test, ["env", "argv"])
    }

    @Test func `parameters arrive as variables, one by one and in lists`() async throws {
        // An argument of a process has at most 128 KiB, so that the large texts go one by one.
        let single = Self.texts.prefix(1404)
        let lists = [Self.texts[1404..<1702], Self.texts[1702...]]
        let declarations = single.indices.map { "P\($0): { type: string }" }
        let test = try test(
            """
            params:
              { \(declarations.joined(separator: ", ")), L0: { type: list }, L1: { type: list } }
            steps:
              params: { run: python3 check.py params \(single.count) L0 L1 }
            """)
        var options = single.enumerated().map { "--param=P\($0)=\($1)" }
        for (index, list) in lists.enumerated() { options.append("--param=L\(index)=\(try Self.json(Array(list)))") }
        try await expectSame(test, ["params"], options: options)
    }

    @Test func `items of a fan-out arrive as variables, in an argv and on standard input`()
        async throws
    {
        let script = #"f=out/$FLOWRUN_STEP; printf %s "$item" > $f.env; printf %s "$1" > $f.argv; cat > $f.stdin"#
        let test = try test(
            """
            steps:
              make: { run: mkdir out; cat object.json >> "$FLOWRUN_OUTPUT", outputs: { texts: list } }
              each:
                needs: [make]
                for-each: ${{ steps.make.outputs.texts }}
                max-items: \(Self.count)
                run: [sh, -c, '\(script)', sh, "${{ item }}"]
                stdin: ${{ item }}
              check:
                needs: [each]
                run: for way in env argv stdin; do python3 check.py files .$way; done
            """, files: ["object.json": "{\"texts\": \(try Self.json(Self.texts))}"])
        let result = try await test.start(["workflow.yml", "--log", "json"], deadline: FlowrunTest.deadline).finish()
        result.expect(exit: 0)
        #expect(try result.log().output(of: "check") == String(repeating: "same files \(Self.count)\n", count: 3))
        #expect(!test.exists("CANARY"), "a value was run")
    }

    @Test func `standard output comes back as an output and on standard input`() async throws {
        let text = Self.texts.joined()
        let test = try test(
            """
            steps:
              make: { run: [cat, text], outputs: { text: { type: string, from: stdout } } }
              output: { needs: [make], stdin: "${{ steps.make.outputs.text }}", run: cat > output }
              stream: { needs: [make], stdin: "${{ steps.make.stdout }}", run: cat > stream }
            """, files: ["text": text + "\n"])
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
        #expect(try test.contents(of: "output").utf8.elementsEqual(text.utf8))
        #expect(try test.contents(of: "stream").hasPrefix(text))
        #expect(!test.exists("CANARY"), "a value was run")
    }

    private static func json(_ texts: [String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    /// In double quotes, with escapes for everything that YAML could take for something else.
    private static func yaml(_ text: String) -> String {
        let escaped = text.replacing("${{", with: "$${{").unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: "\\U" + String(format: "%08x", scalar.value)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

extension SeededGenerator {
    /// What shells, expressions, option parsers, formats and terminals could take for orders.
    fileprivate mutating func hostileText(of length: Int) -> String {
        let pieces = [
            "$(touch CANARY)", "`touch CANARY`", "; touch CANARY #", "'; touch CANARY; '", "\"; touch CANARY; \"",
            "&& touch CANARY", "\ntouch CANARY\n", "| touch CANARY", "${IFS}", "${{ params.P0 }}", "${{ 1 == 1 }}",
            "$HOME",
            "'", "\"", "\\", "\\n", "\n", "\r", "\t", " ", "--help", "-rf", "-", "*", "?", "[a]", "~", "!!", "%s%n",
            "%00",
            "{a,b}", "<<EOF", "=", "::set-output name=a::b", "\u{1B}[2J", "\u{7F}", "é", "e\u{301}", "🎉", "\u{2028}",
            "\u{FEFF}", "\u{202E}", "../../etc/passwd", "null", "true", "0", "a", "b",
        ]
        var text = ""
        while text.utf8.count < length { text += pieces.randomElement(using: &self)! }
        return text
    }
}
