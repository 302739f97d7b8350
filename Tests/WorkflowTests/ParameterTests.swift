import Syntax
import Testing
import Workflow

struct `A parameter` {
    private func check(_ lines: String) -> Checked {
        let indented = lines.split(separator: "\n").map { "  \($0)\n" }.joined()
        return Checked("version: 1\nparams:\n\(indented)steps:\n  a: { run: x }\n")
    }

    @Test func `says its type, what it may be, and what it is by itself`() throws {
        let checked = check(
            """
            channel: { type: enum, values: [nightly, stable], default: nightly, description: what is built }
            version: { type: string, default: 3.10, pattern: '[0-9]+\\.[0-9]+' }
            jobs: { type: int, default: -4 }
            fast: { type: bool, default: false }
            targets: { type: list, default: [x86_64, 010], pattern: '\\w+' }
            folder: { type: path, default: out/build }
            token: { required: true }
            """)
        #expect(checked.summary == [])
        let parameters = try #require(checked.workflow?.parameters)
        #expect(parameters.map(\.name) == ["channel", "version", "jobs", "fast", "targets", "folder", "token"])
        #expect(
            parameters.map(\.kind) == [.choice(["nightly", "stable"]), .string, .int, .bool, .list, .path, .string])
        #expect(
            parameters.map(\.defaultValue) == [
                .string("nightly"), .string("3.10"), .int(-4), .bool(false),
                .list([.string("x86_64"), .string("010")]),
                .string("out/build"), nil,
            ])
        #expect(parameters.map(\.isRequired) == [false, false, false, false, false, false, true])
        #expect(parameters[0].description == "what is built" && parameters[1].pattern?.text == #"[0-9]+\.[0-9]+"#)
    }

    @Test(arguments: [
        (
            "a: 1️⃣nightly",
            "FR0205 `a` takes a mapping such as `{ type: string, default: \"\" }`, found the text `nightly`"
        ),
        ("1️⃣a:", "FR0205 `a` takes a mapping such as `{ type: string, default: \"\" }`, found nothing"),
        ("1️⃣my-name: { type: int }", "FR0211 `my-name` cannot name a variable"),
        ("1️⃣PATH: { type: path }", "FR0212 `PATH` is a variable that changes how programs behave"),
        (
            "a: { type: 1️⃣float }",
            "FR0206 `type` takes `string`, `int`, `bool`, `enum`, `list` or `path`, found `float`"
        ),
        (
            "a: { type: 1️⃣boolean, default: true }",
            "FR0206 `type` takes `string`, `int`, `bool`, `enum`, `list` or `path`, found `boolean`"
        ),
        ("a: { type: 1️⃣enum }", "FR0204 a parameter of type enum has no `values`"),
        (
            "1️⃣a: { type: enum, values: [b] }",
            "FR0204 a parameter of type enum has a `default` or is required, and `a` is neither"
        ),
        ("1️⃣a: { type: path }", "FR0204 a parameter of type path has a `default` or is required, and `a` is neither"),
        (
            "1️⃣a: { pattern: x }",
            "FR0204 a parameter with a `pattern` has a `default` or is required, and `a` is neither"
        ),
        ("a: { env: 1️⃣A-B }", "FR0211 `A-B` cannot name a variable"),
        (
            "a: { type: int, 1️⃣values: [1] }",
            "FR0209 `values` belongs to a parameter of type enum, this one is of type int"
        ),
        ("a: { type: enum, values: [b, 1️⃣b] }", "FR0214 `b` is in the list twice"),
        ("a: { type: enum, values: [b, c], default: 1️⃣d }", "FR0206 `default` takes `b` or `c`, found `d`"),
        (
            "a: { type: int, default: 1️⃣\"3\" }",
            "FR0205 `default` takes a whole number without quotes, found the text `3`"
        ),
        ("a: { type: int, default: 1️⃣1.5 }", "FR0206 `default` takes a whole number in decimal digits, found `1.5`"),
        (
            "a: { type: int, default: 1️⃣99999999999999999999 }",
            "FR0206 `default` takes a whole number in decimal digits, found `99999999999999999999`"
        ),
        ("a: { type: bool, default: 1️⃣no }", "FR0219 `default` takes `true` or `false`, and `no` is a text in YAML 1.2"),
        ("a: { type: list, default: 1️⃣x }", "FR0205 `default` takes a list of texts, found the text `x`"),
        ("a: { type: path, default: 1️⃣\"\" }", "FR0206 `default` takes a path, found an empty text"),
        (
            "a: { pattern: 1️⃣\"v[0-9\" }",
            "FR0222 `v[0-9` is not a regular expression that flowrun knows: `[` is not closed"
        ),
        (
            "a: { type: int, 1️⃣pattern: x }",
            "FR0209 `pattern` has no effect here; it belongs to a parameter of type string, path or list"
        ),
        ("a: { pattern: 'v\\d', default: 1️⃣v10 }", "FR0206 the default `v10` does not match the pattern `v\\d`"),
        (
            "a: { type: list, pattern: 'v\\d', default: [v1, 1️⃣v] }",
            "FR0206 the default `v` does not match the pattern `v\\d`"
        ),
        ("a: { required: true, 1️⃣default: x }", "FR0209 a required parameter has no `default`, this one has"),
        (
            "a: { type: enum, 1️⃣options: [b] }",
            "FR0202 `options` is not a key of a parameter; flowrun's word is `values`"
        ),
        ("a: { 1️⃣optional: true }", "FR0202 a parameter has no key `optional`"),
        ("a: { 1️⃣tpye: int }", "FR0201 unknown key `tpye` in a parameter"),
        ("a: { 1️⃣colour: red }", "FR0201 unknown key `colour` in a parameter"),
    ])
    func `is refused where it says something wrong`(lines: String, finding: String) {
        #expect(check(lines).summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        ("a: nightly", "a: { type: string, default: \"nightly\" }"), ("a: 3", "a: { type: int, default: 3 }"),
        ("a: True", "a: { type: bool, default: true }"), ("a: [b, c]", "a: { type: list, default: [b, c] }"),
        ("a:", "a: { type: string }"), ("a: { type: number }", "a: { type: int }"),
        ("a: { type: int, default: \"3\" }", "a: { type: int, default: 3 }"),
        ("a: { type: list, default: x }", "a: { type: list, default: [x] }"),
        ("a: { type: choice, options: [x], default: x }", "a: { type: enum, values: [x], default: x }"),
    ])
    func `has a fix that a machine can make`(lines: String, fixed: String) {
        #expect(check(lines).diagnostics.isEmpty == false)
        #expect(check(lines).fixed == check(fixed).fixed)
        #expect(check(fixed).summary == [])
    }

    @Test func `may have expressions in its default, which is checked as far as it is a text`() {
        let checked = check("a: { pattern: x, default: \"${{ b }}\" }\nc: { type: list, default: [x, \"${{ b }}\"] }")
        #expect(checked.summary == [])
        #expect(checked.workflow?.parameters.map { $0.computedDefault?.source.templates.count } == [1, 2])
        #expect(checked.workflow?.parameters.map(\.defaultValue) == [nil, nil])
        #expect(
            check("a: { default: 1️⃣[x, \"${{ b }}\"] }").summary
                == ["1️⃣ FR0206 the default of `a`: expected a text, found a list"])
        #expect(
            check("a: { type: list, default: 1️⃣\"x${{ b }}\" }").summary
                == ["1️⃣ FR0206 the default of `a`: expected a list, found a text"])
    }

    @Test func `that is wrong keeps its name`() {
        #expect(check("a: 1\nb: { type: x }\nc: []").workflow?.parameters.map(\.name) == ["a", "b", "c"])
        #expect(Checked("version: 1\nparams: 1️⃣[a]\nsteps: { a: { run: x } }\n").diagnostics.map(\.code) == [.wrongType])
    }
}
