import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `An expression is refused` {
    static let plain: [(String, String)] = [
        ("1️⃣${{ a", "FR0401 this `${{` is not closed"),
        ("${{ 1️⃣'a }}", "FR0401 this quote is not closed"),
        ("${{1️⃣ }}", "FR0401 the expression is empty"),
        ("${{ a 1️⃣= b }}", "FR0401 `=` is not an operator"),
        ("${{ a 1️⃣=== b }}", "FR0401 `===` is not an operator"),
        ("${{ a 1️⃣and b }}", "FR0401 `and` is not an operator"),
        ("${{ 1️⃣not b }}", "FR0401 `not` is not an operator"),
        ("${{ a 1️⃣+ b }}", "FR0401 `+` is not an operator"),
        ("${{ a 1️⃣? b : c }}", "FR0401 `?` is not an operator"),
        ("${{ a == b 1️⃣== c }}", "FR0401 comparisons cannot be chained"),
        ("${{ a 1️⃣b }}", "FR0401 an operator is missing before `b`"),
        ("${{ a &1️⃣& }}", "FR0401 a value is missing at the end"),
        ("${{ 1️⃣(a }}", "FR0401 `)` is missing for this bracket"),
        ("${{ (a 1️⃣b) }}", "FR0401 expected `)` before `b`"),
        ("${{ a1️⃣) }}", "FR0401 there is no opening bracket for this one"),
        ("${{ a1️⃣. }}", "FR0401 a name is missing after the dot"),
        ("${{ 1️⃣1.5 }}", "FR0401 `1.5` is not a whole number; expressions have no other numbers"),
        ("${{ 1️⃣2nd }}", "FR0401 `2nd` is neither a number nor a name"),
        ("${{ 1️⃣99999999999999999999 }}", "FR0401 the number `99999999999999999999` is too large"),
        ("${{ 1️⃣length(a) }}", "FR0403 unknown function `length`"),
        ("${{ 1️⃣if(a, b) }}", "FR0401 `if` takes 3 arguments, found 2"),
        ("${{ 1️⃣ternary(a, b, c) }}", "FR0403 unknown function `ternary`"),
        ("${{ 1️⃣startswith(a, b) }}", "FR0403 unknown function `startswith`"),
        ("${{ 1️⃣contains(a) }}", "FR0401 `contains` takes 2 arguments, found 1"),
        ("${{ 1️⃣format() }}", "FR0401 `format` takes at least 1 argument, found 0"),
        ("${{ a 1️⃣# b }}", "FR0401 unexpected character `#`"),
        ("${{ a 1️⃣é }}", "FR0401 unexpected character `é`"),
    ]

    @Test(arguments: plain.filter { !$0.0.contains("#") && !$0.0.contains(" : ") })
    func `at its place in a plain word`(word: String, finding: String) {
        #expect(checkStep("run:\n  - echo\n  - x \(word)").summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: plain.filter { !$0.0.contains("'") })
    func `at its place in other kinds of scalars`(word: String, finding: String) {
        #expect(checkStep("run: [echo, 'é''s \(word)']").summary == ["1️⃣ \(finding)"])
        #expect(checkStep("run: [echo, \"\\u00e9 \\\"\\x41 \(word)\"]").summary == ["1️⃣ \(finding)"])
        #expect(checkStep("run:\n- >-\n  é\n\n  folded\n  \(word)").summary == ["1️⃣ \(finding)"])
        #expect(checkStep("run:\n- |\n  é\n\n    literal\n  \(word)\n\n").summary == ["1️⃣ \(finding)"])
        #expect(checkStep("run:\n- \"a\n\n  b \\\n  c \(word)\"").summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        ("[a, '${{ x = ''b'' }}']", "[a, '${{ x == ''b'' }}']"), ("[\"${{ x and y }}\"]", "[\"${{ x && y }}\"]"),
        ("['${{ x == \"b\" }}']", "['${{ x == ''b'' }}']"), ("[\"${{ x == \\\"b\\\" }}\"]", "[\"${{ x == 'b' }}\"]"),
        ("[a, \"${{ length(x) }}\"]", "[a, \"${{ len(x) }}\"]"), ("[\"${{ tojson(x) }}\"]", "[\"${{ toJSON(x) }}\"]"),
        ("[\"${{ x == 1.5 }}\"]", "[\"${{ x == fromJSON('1.5') }}\"]"), ("[\"${{ x <> 1 }}\"]", "[\"${{ x != 1 }}\"]"),
    ])
    func `with a fix that a machine can make`(run: String, fixed: String) {
        let checked = checkStep("run: \(run)")
        #expect(checked.diagnostics.count == 1)
        #expect(checked.fixed == checkStep("run: \(fixed)").fixed)
        #expect(checkStep("run: \(fixed)").summary == [])
    }

    @Test(arguments: [
        "1️⃣name: 2️⃣${{ a }}\nrun: x", "run: x\nkill-signal: 2️⃣${{ a }}", "run: x\ndotenv: 2️⃣${{ a }}",
        "run: x\nmutex: [a, \"2️⃣${{ a }}\"]", "run: x\nfor-each: [a, \"2️⃣${{ a }}\"]",
        "run: x\nmatrix: { include: [{ os: \"2️⃣${{ a }}\" }] }",
    ])
    func `where nothing evaluates it`(lines: String) {
        let checked = checkStep(lines)
        #expect(checked.summary.contains("2️⃣ FR0402 `${{ }}` is not evaluated here"))
        #expect(checked.diagnostics.count == 1)
    }

    @Test func `once for an anchor with aliases`() {
        let checked = checkStep("run: x\nenv: { A: &a \"1️⃣${{ b\", B: *a, C: *a }")
        #expect(checked.summary == ["1️⃣ FR0401 this `${{` is not closed"])
    }

    @Test func `in the text of a script, and its alias elsewhere is none`() {
        let checked = checkStep("run: &a echo 1️⃣${{ b }}\nenv: { A: *a }")
        #expect(checked.summary.first == "1️⃣ FR0210 `${{` in a script: flowrun never puts a value into code")
    }
}
