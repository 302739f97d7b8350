import FlowrunTestSupport
import Syntax
import Testing

/// The outline of a node: scalars as `type(text)`, collections in brackets.
func outline(_ node: YAMLNode) -> String {
    switch node.kind {
    case .scalar: "\(node.type!)(\(node.text))"
    case .sequence: "[" + node.elements.map(outline).joined(separator: ", ") + "]"
    case .mapping: "{" + node.entries.map { "\($0.key.text): \(outline($0.value))" }.joined(separator: ", ") + "}"
    case .invalid: "invalid"
    }
}

func outline(of text: String) throws -> String {
    let parsed = YAMLParser.parse(SourceFile(name: "test.yml", text: text))
    #expect(parsed.diagnostics.map(\.message) == [])
    return try #require(parsed.document).withRoot(outline)
}

struct `Nodes of a document` {
    @Test func `keep the order of the file`() throws {
        #expect(
            try outline(of: "b: 1\na:\n  - x\n  - {k: [1, 2], e: }\nc: 'q'\n")
                == "{b: int(1), a: [string(x), {k: [int(1), int(2)], e: null()}], c: string(q)}")
    }

    @Test func `give their memory back on demand, unless an alias may read them again`() throws {
        let list = String(repeating: "  - a word\n", count: 200_000)
        for (text, isGone) in [("k:\n\(list)", true), ("k:\n\(list)  - &a b\n  - *a\n", false)] {
            let file = SourceFile(name: "test.yml", text: text)
            let words = try #require(YAMLParser.parse(file).document).withRoot { root in
                let items = Array(root.entries.first { _ in true }?.value.elements ?? root.elements)
                let kept = items[1].released(upTo: items[10]).released(upTo: items[150_000])
                return [items[100_000], items[150_000], kept].map(\.text)
            }
            #expect(words == [isGone ? "" : "a word", "a word", "a word"])
        }
    }

    @Test(arguments: [
        ("'it''s'", "it's"), (#""a\tb\u00e9""#, "a\tbé"), (#""plain""#, "plain"), ("a\n  b", "a b"),
        ("|\n  one\n   two\n", "one\n two\n"), (">-\n  one\n  two\n", "one two"), ("a # comment", "a"),
        ("é ü", "é ü"), ("\"a\n\n  b\"", "a\nb"),
    ])
    func `have the value that YAML gives a scalar`(source: String, value: String) throws {
        let file = SourceFile(name: "test.yml", text: "k: \(source)\n")
        let values = try #require(YAMLParser.parse(file).document).withRoot { $0.entries.map(\.value.text) }
        #expect(values == [value])
    }

    @Test(arguments: [
        ("3.10", YAMLScalarType.float), ("010", .int), ("0o17", .int), ("0xFf", .int), ("-12", .int), ("1e3", .float),
        (".5", .float), ("-.inf", .float), (".nan", .float), ("1:30", .string), ("no", .string), ("on", .string),
        ("true", .bool), ("FALSE", .bool), ("tRue", .string), ("~", .null), ("null", .null), ("1.2.3", .string),
        ("+", .string), ("1e", .string), ("0x", .string), ("0o8", .string), (".", .string), ("1_000", .string),
        ("\"true\"", .string), ("'1'", .string),
    ])
    func `have the type of the core schema`(source: String, type: YAMLScalarType) throws {
        let document = YAMLParser.parse(SourceFile(name: "test.yml", text: "[\(source)]")).document
        #expect(try #require(document).withRoot { $0.elements.map(\.type) } == [type])
    }

    @Test func `know where they stand, also behind characters of several bytes`() throws {
        let marked = MarkedText("# ünïcödé ☃\n1️⃣é: 2️⃣\"ü\" # ✓\nb: 3️⃣[x, 4️⃣𝄞𝄞, 5️⃣y]\nc:6️⃣\n")
        let document = try #require(YAMLParser.parse(marked.file).document)
        var places: [String] = []
        func walk(_ node: YAMLNode) {
            places.append("\(marked.place(of: node.range)) \(marked.file.text(in: node.range))")
            node.elements.forEach(walk)
            node.entries.forEach { walk($0.value) }
        }
        document.withRoot(walk)
        #expect(places.dropFirst() == ["2️⃣ \"ü\"", "3️⃣ [x, 𝄞𝄞, y]", "3:5 x", "4️⃣ 𝄞𝄞", "5️⃣ y", "6️⃣ "])
        #expect(places[0].hasSuffix("c:"))
    }

    @Test func `end where their text ends`() throws {
        let text = "a:\n  b: |\n    text\n\n\nc:\n- 1\n# comment\n"
        let document = try #require(YAMLParser.parse(SourceFile(name: "test.yml", text: text)).document)
        let values = document.withRoot { $0.entries.map { document.file.text(in: $0.value.range) } }
        #expect(values == ["b: |\n    text", "- 1"])
    }

    @Test func `are the same for a byte order mark, CR LF and document marks`() throws {
        let expected = "{a: int(1), b: [string(x)]}"
        #expect(try outline(of: "\u{FEFF}a: 1\nb: [x]\n") == expected)
        #expect(try outline(of: "a: 1\r\nb:\r\n  - x\r\n") == expected)
        #expect(try outline(of: "%YAML 1.2\n---\na: 1\nb: [x]\n...\n") == expected)
    }

    @Test func `are found again through aliases, at the alias's place`() throws {
        let marked = MarkedText("a: &x {k: [1, 2]}\nb: 1️⃣*x\nc: &s text\nd: *s\n*s : 3\n")
        let document = try #require(YAMLParser.parse(marked.file).document)
        #expect(
            document.withRoot(outline)
                == "{a: {k: [int(1), int(2)]}, b: {k: [int(1), int(2)]}, c: string(text), d: string(text), text: int(3)}"
        )
        #expect(document.withRoot { $0.entries.map { marked.place(of: $0.value.range) } }[1] == "1️⃣")
    }

    @Test func `without anchor and tag in their range`() throws {
        let marked = MarkedText("a: &x 1️⃣one\nb: &y\n  2️⃣k: 1\n")
        let document = try #require(YAMLParser.parse(marked.file).document)
        #expect(document.withRoot { $0.entries.map { marked.place(of: $0.value.range) } } == ["1️⃣", "2️⃣"])
    }
}
