import FlowrunTestSupport
import SourceDiagnostics
import Testing
import YAMLSyntax

struct `A YAML mistake is told in one well-placed line` {
    @Test(arguments: [
        ("steps:\n  a:\n    run: say price1️⃣: ten\n", "a second `: ` in a value without quotes"),
        (
            "a:\n  run: x\n    1️⃣needs: [b]\n",
            "`needs` is indented deeper than the line above it, so it reads as a part of that line's value"
        ),
        ("a:\n1️⃣\tb: 1\n", "YAML does not accept tabs as indentation"),
        ("- id: a\n1️⃣\trun: echo a\n", "YAML does not accept tabs as indentation"),
        ("- {id: a\n   1️⃣run: echo a}\n", "expected `,` or `}` before this"),
        ("a: 1️⃣[x, y\n", "the `[` that begins here is never closed"),
        ("d: 1️⃣{b: [2]\n", "the `{` that begins here is never closed"),
        ("run: \"echo 1️⃣\\'a\\'\"\n", "`\\'` is not an escape of double-quoted text"),
        ("run: \"a 1️⃣\\xZZ\"\n", "the escape that begins here is not a character"),
        ("run: \"echo\" 1️⃣more\n", "text after the closing quote"),
        ("run: 1️⃣\"echo\nb: 1\n", "the quoted text that begins here is never closed"),
        ("a: 1\n1️⃣run echo\nb: 2\n", "expected `key: value`, found `run echo` without a `:`"),
        ("1️⃣a:1\nb: 2\n", "a blank is missing after the `:`"),
        ("steps:\n  - 1️⃣run echo\n    needs: [b]\n", "expected `key: value`, found `run echo` without a `:`"),
        ("a: 1️⃣@x\n", "a value without quotes cannot begin with `@`"),
        ("a: 1️⃣`date`\n", "a value without quotes cannot begin with ```"),
        ("needs: 1️⃣- a\n", "a list cannot begin here with `- `"),
        ("run: 1️⃣*.sh\n", "`*` at the start of a value begins an alias, and this is not the name of one"),
        ("a: { run: make 1️⃣timeout: 5m }\n", "expected `,` or `}` before this"),
        ("a: { run: make\n     1️⃣timeout: 5m }\n", "expected `,` or `}` before this"),
        ("a: { description: a1️⃣: b, run: make }\n", "a second `: ` in a value without quotes"),
        ("run: 1️⃣[ -f x ] && echo y\n", "a value that begins with `[` is a list, and something follows it"),
        ("run: 1️⃣[ -f x ] || echo y\n", "a value that begins with `[` is a list, and something follows it"),
        ("run: 1️⃣&& x\n", "`&` at the start of a value begins an anchor, and this is not a name for one"),
        ("a: [x, 1️⃣, y]\n", "expected a value here"),
        ("a:\n  b: 1\n 1️⃣c: 2\n", "the indentation of this line fits none of the lines above"),
        ("a:\n  b: 1\n  1️⃣- c\n", "a list item is among `key: value` lines"),
        ("a:\n- b\n1️⃣c\nd: 1\n", "expected `key: value`, found `c` without a `:`"),
        ("a: | 1️⃣text\n", "after `|` or `>` the line may hold only `+`, `-` and a digit from 1 to 9"),
        ("  a: 1\n1️⃣b: 2\n", "this does not belong to the workflow above"),
        ("1️⃣%FOO\n---\na: 1\n", "`%` at the start of a line begins a YAML directive, and this one is unknown"),
    ])
    func `with what was found`(text: String, message: String) {
        #expect(findings(text) == ["1️⃣ FR0105 \(message)"])
    }

    @Test(arguments: [
        ("run: say price: ten # c\n", "run: 'say price: ten' # c\n"),
        ("run: it's price: ten\n", "run: 'it''s price: ten'\n"),
        ("a:\n  run: x\n    needs: [b]\n", "a:\n  run: x\n  needs: [b]\n"),
        ("- run: x\n      needs: [b]\n", "- run: x\n  needs: [b]\n"),
        ("run: \"echo \\'a'\"\n", "run: \"echo 'a'\"\n"),
        ("run: \"a\\.b\"\n", "run: \"a\\\\.b\"\n"),
        ("run: \"echo\" more\n", "run: '\"echo\" more'\n"),
        ("a:1\nb: 2\n", "a: 1\nb: 2\n"),
        ("a: @x y # c\n", "a: '@x y' # c\n"),
        ("run: *.sh\n", "run: '*.sh'\n"),
        ("a: { run: *.sh }\n", "a: { run: '*.sh' }\n"),
        ("a: [@x, y]\n", "a: ['@x', y]\n"),
        ("a: [[x], @y]\n", "a: [[x], '@y']\n"),
        ("run: [ -f x ] && echo y\n", "run: '[ -f x ] && echo y'\n"),
        ("a: { run: [ -f x ] && echo y }\n", "a: { run: '[ -f x ] && echo y' }\n"),
        ("a: { run: [ -f x ] || echo y, timeout: 5m }\n", "a: { run: '[ -f x ] || echo y', timeout: 5m }\n"),
        ("a: { b: { run: [[ -f x ]] && [ y ] } }\n", "a: { b: { run: '[[ -f x ]] && [ y ]' } }\n"),
        ("run: [[ -f x ]] || echo y # c\n", "run: '[[ -f x ]] || echo y' # c\n"),
        ("a: { description: a: b, run: make }\n", "a: { description: 'a: b', run: make }\n"),
        ("a: { run: make\n     timeout: 5m }\n", "a: { run: make,\n     timeout: 5m }\n"),
    ])
    func `and a fix that a machine can make`(text: String, fixed: String) {
        let marked = MarkedText(text)
        let found = YAMLParser.parse(marked.file).diagnostics
        #expect(marked.applyingFixes(of: found) == fixed)
        #expect(findings(fixed) == [])
    }
}
