import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `A workflow is refused` {
    @Test(arguments: [
        ("1️⃣[a]", "FR0205 a workflow is a mapping with `version` and `steps`, found a list"),
        ("1️⃣hello", "FR0205 a workflow is a mapping with `version` and `steps`, found the text `hello`"),
        ("1️⃣steps: { a: { run: x } }", "FR0218 the workflow does not say its format version"),
        ("version: 1️⃣2\nsteps: { a: { run: x } }", "FR0218 format version 2 is not known, the newest is 1"),
        ("version: 1️⃣\"1\"\nsteps: { a: { run: x } }", "FR0218 expected the format version 1, found the text `1`"),
        ("version: 1️⃣1.0\nsteps: { a: { run: x } }", "FR0218 expected the format version 1, found the number `1.0`"),
        ("1️⃣version:\nsteps: { a: { run: x } }", "FR0218 expected the format version 1, found nothing"),
        ("1️⃣version: 1", "FR0204 the workflow has no `steps`"),
        ("version: 1\n1️⃣steps:", "FR0205 `steps` takes a mapping of ids to steps, found nothing"),
        ("version: 1\nsteps: 1️⃣{}", "FR0216 `steps` contains no step"),
        ("version: 1\nsteps: 1️⃣[{ id: a, run: x }]", "FR0205 `steps` takes a mapping of ids to steps, found a list"),
        ("version: 1\nsteps:\n  1️⃣a:", "FR0204 `a` has neither `run` nor `steps`"),
        ("version: 1\nsteps:\n  1️⃣a: {}", "FR0204 `a` has neither `run` nor `steps`"),
        (
            "version: 1\nsteps:\n  a: 1️⃣make all",
            "FR0205 `a` takes a mapping with `run` or `steps`, found the text `make all`"
        ),
        ("version: 1\nsteps: { a: { steps: 1️⃣{} } }", "FR0216? `steps` contains no step"),
        ("version: 1\n1️⃣stages: [x]\nsteps: { a: { run: x } }", "FR0201 unknown key `stages` in the workflow"),
        ("version: 1\n1️⃣services: { a: 1 }\nsteps: { a: { run: x } }", "FR0208 `services` is not supported yet"),
        (
            "version: 1\n1️⃣retry: { attempts: 2 }\nsteps: { a: { run: x } }",
            "FR0201 `retry` is not a key of the workflow"
        ),
        ("version: 1\n1️⃣mutex: a\nsteps: { a: { run: x } }", "FR0201 `mutex` is not a key of the workflow"),
        (
            "version: 1\nenv-policy: 1️⃣none\nsteps: { a: { run: x } }",
            "FR0206 `env-policy` takes `inherit` or `clean`, found `none`"
        ),
        (
            "version: 1\nlog: 1️⃣loud\nsteps: { a: { run: x } }",
            "FR0206 `log` takes `live`, `grouped` or `quiet`, found `loud`"
        ),
        (
            "version: 1\n1️⃣jobs: { a: { run: x } }",
            "FR0202 `jobs` is not a key of the workflow; flowrun's word is `steps`"
        ),
        ("version: 1\n1️⃣on: push\nsteps: { a: { run: x } }", "FR0202 flowrun has no key `on`"),
        ("version: 1\n1️⃣run: x\nsteps: { a: { run: x } }", "FR0201 `run` is not a key of the workflow"),
        (
            "version: 1\nmax-parallel: 1️⃣-7\nsteps: { a: { run: x } }",
            "FR0206 `max-parallel` takes a whole number from 1 to 1000000, found `-7`"
        ),
        (
            "version: 1\nmax-parallel: 1️⃣2.5\nsteps: { a: { run: x } }",
            "FR0206 `max-parallel` takes a whole number from 1 to 1000000, found `2.5`"
        ),
        (
            "version: 1\nfail-fast: 1️⃣off\nsteps: { a: { run: x } }",
            "FR0219 `fail-fast` takes `true`, `false` or `drain`, and `off` is a text in YAML 1.2"
        ),
        (
            "version: 1\norder: 1️⃣serial\nsteps: { a: { run: x } }",
            "FR0206 `order` takes `parallel` or `sequence`, found `serial`"
        ),
        ("version: 1\ndefaults: { 1️⃣run: x }\nsteps: { a: { run: x } }", "FR0201 `run` is not a key of `defaults`"),
        ("version: 1\nname: 1️⃣${{ a }}\nsteps: { a: { run: x } }", "FR0402 `${{ }}` is not evaluated here"),
        (
            "version: 1\nsteps: { 1️⃣r4.5: { run: x } }",
            "FR0207 the id `r4.5` has a dot, which separates a group from its member"
        ),
        ("version: 1\nsteps: { 1️⃣-a: { run: x } }", "FR0207 the id `-a` begins with `-`"),
        (
            "version: 1\nsteps: { 1️⃣\"a\\nb\": { run: x } }",
            "FR0207 the id `a␤b` has a character other than letters, digits, `_` and `-`"
        ),
        ("version: 1\nsteps: { 1️⃣\"\": { run: x } }", "FR0207 an id cannot be empty"),
        (
            "version: 1\nsteps: { 1️⃣no: { run: x } }",
            "FR0219? other YAML tools do not read the id `no` as text"
        ),
        ("version: 1\nsteps: { a: { run: x }, 1️⃣a: { run: y } }", "FR0106 the key `a` is given twice"),
    ])
    func `where it says something wrong`(text: String, finding: String) {
        #expect(Checked(text + "\n").summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [("\"\"", "build"), ("~", "build"), ("é", "build"), ("a b", "a-b")])
    func `for an id that is none, with what to write in its place`(id: String, name: String) {
        let checked = Checked("version: 1\nsteps: { 1️⃣\(id): { run: x } }\n")
        #expect(checked.diagnostics.map(\.code.rawValue) == ["FR0207"])
        #expect(checked.diagnostics.first?.fix?.description.contains("`\(name)`") == true)
    }

    @Test func `for an id that is too long, not for one that is just not`() {
        func check(_ length: Int) -> [String] {
            let id = String(repeating: "x", count: length)
            return Checked("version: 1\nsteps: { 1️⃣\(id): { run: x } }\n").diagnostics.map(\.code.rawValue)
        }
        #expect(check(128) == [])
        #expect(check(129) == ["FR0207"])
    }

    @Test func `for all mistakes at once, in the order of their places`() {
        let checked = Checked(
            """
            1️⃣nmae: x
            timeout: 2️⃣10
            steps:
              a: { run: 3️⃣true }
              a: { run: x }
              b: { 4️⃣deps: [a], run: "5️⃣${{ x }}" }
              c: { run: x, env: { 6️⃣A-B: 1 } }
              g:
                steps:
                  d: { 7️⃣rnu: x, timeout: 8️⃣soon }

            """)
        let places = checked.summary.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(
            places == [
                "1️⃣ FR0201", "1️⃣ FR0218", "2️⃣ FR0206", "3️⃣ FR0205", "5:3 FR0106", "4️⃣ FR0202", "5️⃣ FR0210",
                "6️⃣ FR0211", "7️⃣ FR0201", "8️⃣ FR0206",
            ])
    }

    @Test func `with a version line as the fix where it has none`() {
        #expect(Checked("# c\nsteps:\n  a: { run: x }\n").fixed == "# c\nversion: 1\nsteps:\n  a: { run: x }\n")
        #expect(Checked("{steps: {a: {run: x}}}\n").diagnostics.first?.fix?.edits.isEmpty == true)
    }

    @Test func `at the alias where the value of an anchor is wrong there`() {
        let checked = Checked("version: 1\nsteps:\n  a: { run: x, env: &e { A: b } }\n  b: { run: x, timeout: 1️⃣*e }\n")
        #expect(checked.summary.map { $0.prefix(8) } == ["1️⃣ FR0205"])
    }

    @Test func `without anything to say about what the parser has refused`() {
        let checked = Checked("version: 1\nsteps:\n  a: { run: 1️⃣*none, needs: *none, env: *none }\n")
        #expect(checked.diagnostics.map(\.code) == [.unknownAnchor, .unknownAnchor, .unknownAnchor])
    }

    @Test func `with a thousand findings at most`() {
        let lines = (0..<3000).map { "  s\($0): { rn\($0 % 7): x, timeout: 5 }\n" }.joined()
        let found = Checked("version: 1\nsteps:\n" + lines).diagnostics
        #expect(found.count == 1000)
        #expect(found.last?.notes.last?.message.hasSuffix(" more findings not shown") == true)
    }
}
