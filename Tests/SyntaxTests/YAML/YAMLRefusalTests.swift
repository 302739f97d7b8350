import FlowrunTestSupport
import Syntax
import Testing

/// The findings about a marked text, as `MarkedText.summary` tells them.
func findings(_ text: String) -> [String] {
    let marked = MarkedText(text)
    return marked.summary(of: YAMLParser.parse(marked.file).diagnostics)
}

struct `What the parser refuses` {
    @Test func `every duplicate key, with the place of the first`() {
        let marked = MarkedText("a: 1\n1️⃣'a': 2\nb: {x: 1, 2️⃣x: 2, y: 3, 3️⃣\"\\x78\": 4}\n")
        let found = YAMLParser.parse(marked.file).diagnostics
        #expect(
            marked.summary(of: found) == [
                "1️⃣ FR0106 the key `a` is given twice", "2️⃣ FR0106 the key `x` is given twice",
                "3️⃣ FR0106 the key `x` is given twice",
            ])
        let firsts = found.sortedByPlace().map { $0.notes.first?.range?.start }
        #expect(firsts == [0, 16, 16])
    }

    @Test func `a duplicate among a thousand keys`() {
        let keys = (0..<1000).map { "k\($0): 1\n" }.joined()
        #expect(findings(keys + "1️⃣k500: 2\n") == ["1️⃣ FR0106 the key `k500` is given twice"])
    }

    @Test func `all duplicates among thousands of keys, in file order, also where the file breaks off`() {
        let keys = (0..<3000).map { "k\($0): 1\n" }.joined()
        let duplicates = "1️⃣'k2999': 2\n2️⃣k0: 2\n3️⃣\"k\\x37\": 2\n4️⃣k0: 3\n"
        let told = [
            "1️⃣ FR0106 the key `k2999` is given twice", "2️⃣ FR0106 the key `k0` is given twice",
            "3️⃣ FR0106 the key `k7` is given twice", "4️⃣ FR0106 the key `k0` is given twice",
        ]
        #expect(findings(keys + duplicates) == told)
        #expect(Array(findings(keys + duplicates + "last: [\n").prefix(4)) == told)
    }

    @Test func `readers do not see a refused key`() throws {
        let document = YAMLParser.parse(SourceFile(name: "t", text: "a: 1\na: 2\n<<: {b: 1}\n[c]: 1\nd: 1\n")).document
        #expect(try #require(document).withRoot { $0.entries.map(\.key.text) } == ["a", "d"])
    }

    @Test func `tags, merge keys and keys that are no names`() {
        #expect(
            findings("a: 1️⃣!secret x\nb: &k 2️⃣!!python/object [1]\n3️⃣<<: {c: 1}\n? 4️⃣[x]\n: 1\ne: {5️⃣{ x }}\n") == [
                "1️⃣ FR0107 YAML tags are not accepted, found `!secret`",
                "2️⃣ FR0107 YAML tags are not accepted, found `!!python/object`",
                "3️⃣ FR0108 merge keys are not accepted",
                "4️⃣ FR0116 a key must be a plain name, found a list",
                "5️⃣ FR0116 a key must be a plain name, found a mapping",
            ])
        #expect(findings("\"<<\": 1\n") == [])
        #expect(findings("if: 1️⃣!x!cancelled\n") == ["1️⃣ FR0107 YAML tags are not accepted"])
        #expect(findings("1️⃣%TAG ! tag:x,2000:\n---\na: 1\n").first?.hasPrefix("1️⃣ FR0107") == true)
    }

    @Test func `tag directives are refused before each is compared with all others`() {
        // So many that comparing them would take hours.
        let directives = (0..<1_000_000).map { "%TAG !t\($0)! tag:x,2000:\n" }.joined()
        #expect(findings("# first\n\n" + directives + "---\na: 1\n").map { $0.prefix(10) } == ["3:1 FR0107"])
        #expect(findings("a: 1\n...\n" + directives + "---\nb: 1\n").map { $0.prefix(10) } == ["3:1 FR0109"])
    }

    @Test func `a second document, also one that a late directive begins`() {
        let message = "1️⃣ FR0109 a second document begins here, a workflow file holds one"
        #expect(findings("a: 1\n1️⃣---\nb: 1\n") == [message])
        #expect(findings("name: x\n1️⃣%YAML 1.2\n---\nsteps:\n") == [message])
    }

    @Test func `a file that says nothing`() {
        for text in ["", "# nothing here\n", "---\n", "\n\n", "\u{FEFF}"] {
            #expect(findings(text) == ["1:1 FR0114 the file contains no workflow"])
        }
    }

    @Test func `a YAML version that it does not read`() {
        #expect(findings("1️⃣%YAML 2.0\n---\na: 1\n") == ["1️⃣ FR0115 flowrun reads YAML 1.2 and 1.1"])
    }

    @Test func `nesting beyond the limit, however deep`() {
        for (open, count) in [("[", 65), ("[", 100_000), ("{a: ", 100_000), ("- ", 100_000), ("? ", 5_000)] {
            let text = String(repeating: open, count: count)
            let column = open.utf8.count * 64 + 1
            #expect(findings(text).last == "1:\(column) FR0110 the nesting is deeper than 64 levels")
        }
        let inLimit = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(findings(inLimit) == [])
    }

    @Test func `an alias without an anchor, with the nearest one`() {
        let marked = MarkedText("a: &common 1\nb: 1️⃣*comon\nc: *other\n")
        let found = YAMLParser.parse(marked.file).diagnostics
        #expect(marked.summary(of: found).first == "1️⃣ FR0112 there is no anchor `&comon` before this alias")
        #expect(found.count == 2)
        #expect(marked.applyingFixes(of: found).contains("b: *common\n"))
    }

    @Test func `an alias inside its own anchor`() {
        #expect(
            findings("a: &all\n- x\n- n: 1️⃣*all\n") == ["1️⃣ FR0113 the alias `*all` is inside the node it refers to"])
        #expect(findings("- &s\n  a: 1️⃣*s\n") == ["1️⃣ FR0113 the alias `*s` is inside the node it refers to"])
    }

    @Test func `aliases that stand for too much`() {
        let ten = { (name: String) in "[" + Array(repeating: "*\(name)", count: 10).joined(separator: ", ") + "]" }
        let bomb = "a: &a [{id: a, run: echo a}]\nb: &b \(ten("a"))\nc: &c \(ten("b"))\nd: &d \(ten("c"))\n"
        #expect(findings(bomb + "steps: 1️⃣*d\n").first?.hasPrefix("1️⃣ FR0111 ") == true)
        #expect(findings(bomb) == [])
        let many = String(repeating: "- *x\n", count: 200_000)
        #expect(findings("- &x [1, 2, 3]\n" + many) == [])
    }

    @Test func `bytes that are no text, each at its place`() {
        func places(_ bytes: [UInt8]) -> [String] {
            YAMLParser.parse(SourceFile(name: "t", bytes: bytes)).diagnostics.map {
                "\($0.code.rawValue) \($0.range.start) \($0.message)"
            }
        }
        #expect(places(Array("a: \u{0}b".utf8)) == ["FR0104 3 the file has a NUL byte"])
        #expect(
            places(Array("a: \u{1B}[1m é \u{9F}".utf8)) == [
                "FR0104 3 the file has the control character U+001B",
                "FR0104 11 the file has the control character U+009F",
            ])
        #expect(places([0x61, 0x3A, 0x20, 0xE9, 0x0A]) == ["FR0103 3 byte 0xE9 is not UTF-8"])
        #expect(places([0x61, 0xED, 0xA0, 0x80]).count == 3)
        #expect(places([0xC0, 0xAF]).first == "FR0103 0 byte 0xC0 is not UTF-8")
        #expect(places([0xFF, 0xFE, 0x61, 0x00]) == ["FR0103 0 the file is UTF-16, a workflow file is UTF-8"])
        #expect(places([UInt8](repeating: 0, count: 1000)).count == 5)
        #expect(places(Array("a: \"x\\0y\"".utf8)).first?.hasPrefix("FR0104 3 ") == true)
        #expect(places(Array("a: x\u{A0}\t𝄞\r\n".utf8)) == [])
    }
}
