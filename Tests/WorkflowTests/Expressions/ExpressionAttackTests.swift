import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `The expression parser stands` {
    private func parse(_ text: String) -> String? {
        do throws(ExpressionError) {
            _ = try ExpressionParser.parse(text, at: .beginning)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `as many terms as fit`() throws {
        for (term, symbol) in [("a", "&&"), ("a", "||"), ("a", "??"), ("1", ",")] {
            let count = ExpressionParser.lengthLimit / (term.utf8.count + symbol.utf8.count) - 1
            let chain = Array(repeating: term, count: count).joined(separator: symbol)
            let text = symbol == "," ? "[\(chain)]" : chain
            let scope = SampleScope(values: ["a": .bool(symbol == "&&")])
            let value = try Expression(text: text).evaluate(in: scope)
            #expect(symbol == "," ? value.json.utf8.count == 2 * count + 1 : value == .bool(symbol == "&&"))
        }
        #expect(parse("a" + String(repeating: ".a", count: 32000)) == nil)
        #expect(parse("a" + String(repeating: "[0]", count: 20000)) == nil)
    }

    @Test func `100,000 terms with a word`() {
        for symbol in ["&&", "||", "??", "==", ".", ","] {
            let text = Array(repeating: "a", count: 100_000).joined(separator: symbol)
            #expect(parse(text) == "the expression is longer than 65536 bytes")
        }
    }

    @Test(arguments: ["(", "[", "!", "len(", "a[", "a.b(", "a?? (", "true && ("])
    func `any depth`(opening: String) {
        #expect(parse(String(repeating: opening, count: 1000)) != nil)
        let nested = String(repeating: "(", count: 64) + "a" + String(repeating: ")", count: 64)
        #expect(parse(nested) == nil)
        #expect(parse("(\(nested))") == "the expression is nested deeper than 64 levels")
        #expect(parse(String(repeating: "!", count: 64) + "a") == nil)
        #expect(parse(String(repeating: "!", count: 65) + "a") == "the expression is nested deeper than 64 levels")
    }

    @Test func `20,000 random token strings`() {
        let words = [
            "a", "steps", ".", "*", "[", "]", "(", ")", "'", "'b'", "1", "-1", "==", "!=", "<", "<=", "&&", "||", "!",
            "??", ",",
            "len(", "format(", "success()", "true", "null", " ", "\n", "é", "😀", "\"", "=", "$", "{", "}", "}}", "${{",
            "\u{0}", "1.5",
            "and", "\u{FF}", "contains(", "?", "&", "99999999999999999999",
        ]
        var random = SeededGenerator(seed: 42)
        var accepted = 0
        for _ in 0..<20000 {
            let text = (0..<Int.random(in: 1...12, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }.joined()
            do throws(ExpressionError) {
                let expression = try ExpressionParser.parse(text, at: .beginning)
                accepted += 1
                _ = try? expression.evaluate(in: SampleScope(values: ["a": .list([.int(1), .null])]))
            } catch {
                #expect(error.range.upperOffset <= text.utf8.count)
            }
        }
        #expect(accepted > 300)
    }

    @Test func `20,000 random templates`() {
        let pieces = ["${{", "}}", "$${{", "'", "a", " ", "$", "{", "}", "é", "x == 'y'", "\\n", "\\u00e9"]
        var random = SeededGenerator(seed: 43)
        for _ in 0..<20 {
            let words = (0..<1000).map { _ in
                "\""
                    + (0..<Int.random(in: 1...10, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
                    }.joined() + "\""
            }
            let checked = checkStep("run: [x, \(words.joined(separator: ", "))]")
            let size = checked.marked.file.bytes.count
            #expect(checked.diagnostics.allSatisfy { $0.range.upperOffset <= size && $0.code == .expressionSyntax })
        }
    }
}
