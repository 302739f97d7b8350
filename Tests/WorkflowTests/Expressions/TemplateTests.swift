import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `A template` {
    /// Its parts: texts in angle brackets, expressions as they are written.
    private func parts(_ word: String) -> [String] {
        let checked = checkStep("run: [echo, \"\(word)\"]")
        #expect(checked.summary == [])
        guard case .arguments(let words)? = checked.node("a")?.body, let last = words.last else { return [] }
        return switch last {
        case .literal(let text): ["<\(text)>"]
        case .parsed(let template):
            template.parts.map { part in
                switch part {
                case .text(let text): "<\(text)>"
                case .expression(let expression): expression.text
                }
            }
        }
    }

    @Test(arguments: [
        ("plain", ["<plain>"]), ("${{ a }}", ["a"]), ("x${{a}}y${{  b.c  }}z", ["<x>", "a", "<y>", "b.c", "<z>"]),
        ("${{ a }}${{ b }}", ["a", "b"]), ("$${{ a }}", ["<${{ a }}>"]), ("$$${{ a }}", ["<$${{ a }}>"]),
        ("x $${{ ${{ a }}", ["<x ${{ >", "a"]), ("${{ '}}' }}", ["'}}'"]), ("${{ 'it''s' }}", ["'it''s'"]),
        ("$ {{ }} $", ["<$ {{ }} $>"]), ("${{ a[b['}}']] }}x", ["a[b['}}']]", "<x>"]), ("${{ a\\n}}", ["a"]),
    ])
    func `is taken apart`(word: String, expected: [String]) {
        #expect(parts(word) == expected)
    }

    @Test func `stands in env and working-directory`() throws {
        let checked = checkStep("run: x\nenv: { A: \"${{ b }}\", B: \"$${{\", C: null }\nworking-directory: ${{ c }}/d")
        #expect(checked.summary == [])
        let settings = try #require(checked.node("a")?.settings)
        #expect(settings.env.map { $0.value?.literal } == [nil, "${{", nil])
        #expect(settings.env[2].value == nil)
        guard case .parsed(let folder)? = settings.workingDirectory else { throw Missing() }
        #expect(folder.expression == nil)
        #expect(checked.marked.file.text(in: folder.range) == "${{ c }}/d")
    }

    private struct Missing: Error {}
}
