import Syntax
import Testing
import Workflow

/// `x-…` at the top of a file.
struct `A key that holds anchors` {
    @Test func `is not read further, and its anchors are used elsewhere`() {
        let checked = Checked(
            """
            version: 1
            x-env: &env { A: "${{ params.a }}", B: b }
            x-nothing:
            x-odd: [{ runs-on: x, needs: 1 }, "${{ not read", [[]], "$${{"]
            x-retry: { often: &often { attempts: 3 }, rarely: { times: 7 } }
            params: { a: { default: x } }
            steps:
              s: { run: x, env: *env, retry: *often }
            """)
        #expect(checked.summary == [])
        #expect(checked.node("s")?.settings?.env.map(\.name) == ["A", "B"])
        #expect(checked.node("s")?.settings?.retry?.attempts == 3)
    }

    @Test func `gives its place to what an alias makes of it`() {
        let checked = Checked(
            """
            version: 1
            x-script: &script echo 1️⃣${{ params.a }}
            x-far: { near: &near { time: [&limit "2️⃣${{ x }}"] }, unread: "${{ y }}" }
            x-again: [*near]
            x-chain: &chain { timeout: 1m, description: *limit }
            params: { a: {} }
            steps:
              s: { run: *script }
              t: { run: x, description: *limit }
            """)
        #expect(
            checked.summary == [
                "1️⃣ FR0210 `${{` in a script: flowrun never puts a value into code",
                "2️⃣ FR0402 `${{ }}` is not evaluated here",
            ])
    }

    @Test(arguments: [
        ("steps: { a: { run: x, 1️⃣x-b: 1 } }", "a step"),
        ("steps: { a: { steps: { b: { run: x } }, 1️⃣x-b: {} } }", "a group"),
        ("defaults: { 1️⃣x-b: 1 }\nsteps: { a: { run: x } }", "`defaults`"),
        ("templates: { t: { 1️⃣x-b: 1, steps: { b: { run: x } } } }\nsteps: { a: { uses: t, with: {} } }", "a template"),
        ("1️⃣x-: 1\nsteps: { a: { run: x } }", "the workflow"), ("1️⃣X-a: 1\nsteps: { a: { run: x } }", "the workflow"),
    ])
    func `is unknown in any other place, with the place where it may be`(text: String, place: String) {
        let checked = Checked("version: 1\n\(text)\n")
        #expect(checked.diagnostics.count == 1)
        #expect(checked.summary.first?.hasPrefix("1️⃣ FR0201 unknown key ") == true)
        #expect(checked.summary.first?.hasSuffix(" in \(place)") == true)
        let notes = checked.diagnostics.flatMap(\.notes).map(\.message)
        let isHeld = place != "the workflow"
        #expect(notes.contains("keys with `x-`, which hold anchors, are accepted at the top of a file") == isHeld)
    }
}
