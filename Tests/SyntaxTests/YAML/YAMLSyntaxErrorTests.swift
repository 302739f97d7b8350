import FlowrunTestSupport
import Syntax
import Testing

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
        ("steps:\n  1️⃣a\n    run: x\n", "expected `key: value`, found `a` without a `:`"),
        ("a: { b: c, 1️⃣d:[e] }\n", "a space is missing after the `:`"),
        ("a: { 1️⃣d:{ e: f } }\n", "a space is missing after the `:`"),
        ("a: { b: c d1️⃣:[e] }\n", "a value without quotes cannot have `:[` between brackets"),
        ("a: [b, d1️⃣:[e]]\n", "a value without quotes cannot have `:[` between brackets"),
        ("a: 1\n1️⃣run echo\nb: 2\n", "expected `key: value`, found `run echo` without a `:`"),
        ("1️⃣a:1\nb: 2\n", "a space is missing after the `:`"),
        ("1️⃣a:- 1\nb: 2\n", "a list cannot begin here with `- `"),
        ("steps:\n  - 1️⃣run echo\n    needs: [b]\n", "expected `key: value`, found `run echo` without a `:`"),
        ("a: 1️⃣@x\n", "a value without quotes cannot begin with `@`"),
        ("a: 1️⃣`date`\n", "a value without quotes cannot begin with ```"),
        ("needs: 1️⃣- a\n", "a list cannot begin here with `- `"),
        ("run: 1️⃣*.sh\n", "`*` at the start of a value begins an alias, and this is not the name of one"),
        ("a: { run: make 1️⃣timeout: 5m }\n", "expected `,` or `}` before this"),
        ("a: { run: make\n     1️⃣timeout: 5m }\n", "expected `,` or `}` before this"),
        ("a: { description: a1️⃣: b, run: make }\n", "a second `: ` in a value without quotes"),
        ("a: { if: $1️⃣{{ true }}, run: x }\n", "a value without quotes cannot have `{` between brackets"),
        ("a: { run: echo 1️⃣[a], b: c }\n", "a value without quotes cannot have `[` between brackets"),
        ("a: { type1️⃣{: b }\n", "a value without quotes cannot have `{` between brackets"),
        ("a: { run: \"x\" 1️⃣y }\n", "text after the closing quote"),
        ("a: { run: test && echo \"yes1️⃣: no\" }\n", "a second `: ` in a value without quotes"),
        ("a: { run: x, needs: [b] 1️⃣]\n", "expected `}`, found `]`"),
        ("a: { run: [x 1️⃣}\n", "expected `,` or `]` before this"),
        ("steps: 1️⃣[\n", "the `[` that begins here is never closed"),
        ("steps: [a, { b: [c] }, 1️⃣[\n", "the `[` that begins here is never closed"),
        ("a: run1️⃣: x\n", "a second `: ` in a value without quotes"),
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
        ("a: { if: ${{ a == 'b' }}, run: x }\n", "a: { if: '${{ a == ''b'' }}', run: x }\n"),
        ("a: { run: echo '[\"p\", 1]', type: list }\n", "a: { run: 'echo ''[\"p\", 1]''', type: list }\n"),
        ("a: { run: echo {a,b} }\n", "a: { run: 'echo {a,b}' }\n"),
        ("a: [x, echo ${b[1]} ]\n", "a: [x, 'echo ${b[1]}' ]\n"),
        ("a: { run: \"x\" y, b: c }\n", "a: { run: '\"x\" y', b: c }\n"),
        ("a: { run: test && echo \"yes: no\" }\n", "a: { run: 'test && echo \"yes: no\"' }\n"),
        ("a: { run: make\n     timeout: 5m }\n", "a: { run: make,\n     timeout: 5m }\n"),
    ])
    func `and a fix that a machine can make`(text: String, fixed: String) {
        let marked = MarkedText(text)
        let found = YAMLParser.parse(marked.file).diagnostics
        #expect(marked.applyingFixes(of: found) == fixed)
        #expect(findings(fixed) == [])
    }

    @Test(arguments: [
        ("build: run: make\n", "write `{ run: make }` if `run` is a key, or quote the value: `'run: make'`"),
        ("a: { b: type{: c } # d\n", "quote the value"),
        ("run: > out.txt\n", "begin the text on the next line, or quote the value if the sign is part of it"),
        ("a: { run: x, needs: [b] ]\n", "write `}`, or add the missing `}` before the `]`"),
    ])
    func `or with both ways where it cannot tell which is meant`(text: String, fix: String) {
        let found = YAMLParser.parse(MarkedText(text).file).diagnostics
        #expect(found.map(\.fix?.description) == [fix])
        #expect(found.allSatisfy { $0.fix?.edits.isEmpty == true })
    }
}
