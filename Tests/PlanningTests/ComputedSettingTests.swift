import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

/// Keys such as `timeout` with expressions over parameters and `vars`.
struct `A key whose value follows from parameters` {
    private static let params = """
        params:
          text: { default: 5m }
          bad: { default: soon }
          need: { required: true }
          n: { type: int, default: 2 }
          flag: { type: bool, default: false }
          list: { type: list, default: [linux] }
          word: { type: enum, values: [fast, 5m], default: 5m }
          good: { type: enum, values: [1s, 5m], default: 5m }
        vars: { short: 2s, made: "${{ params.n }}0s", late: { run: echo 1s }, home: "${{ env.HOME ?? '' }}" }

        """

    private func findings(_ text: String) -> [String] {
        let marked = MarkedText("version: 1\n\(Self.params)\(text)\n")
        let (workflow, found) = WorkflowDecoder.read(marked.file)
        guard found.isEmpty, let workflow else { return marked.summary(of: found) }
        return marked.summary(of: Planner.findings(in: workflow))
    }

    @Test(arguments: [
        "timeout: ${{ params.text }}", "timeout: \"${{ params.n }}m\"", "timeout: ${{ vars.short }}",
        "timeout: ${{ vars.made }}", "timeout: ${{ params.need }}", "timeout: ${{ params.good }}",
        "grace: ${{ if(params.flag, '0s', vars.short) }}", "confirm: Really ${{ params.n }}?",
        "confirm: ${{ params.n }}",
        "continue-on-error: ${{ params.flag }}", "shell: ${{ params.text }}", "shell: [\"${{ params.text }}\", -c]",
        "shell: ${{ params.list }}", "platforms: ${{ params.list }}", "platforms: [\"${{ params.need }}\", linux]",
        "retry: { attempts: \"${{ params.n }}\" }", "retry: { attempts: 2, when: \"${{ split('1,timeout', ',') }}\" }",
        "retry: { attempts: \"${{ params.n }}\", delay: \"${{ vars.short }}\", backoff: \"${{ params.n }}\", jitter: 0.5 }",
        "retry: { attempts: 2, when: [\"${{ params.n }}\", timeout], deadline: \"${{ params.text }}\" }",
        "for-each: [1s, 2s]\n    timeout: ${{ item }}",
        "matrix: { f: [true], t: [\"1\"] }\n    continue-on-error: ${{ f }}",
        "for-each: \"${{ split(params.text, ',') }}\"\n    timeout: ${{ item }}",
        "for-each: [a]\n    max-parallel: ${{ params.n }}",
    ])
    func `is fine if it can be one that the key accepts`(line: String) {
        #expect(findings("steps:\n  a:\n    run: x\n    \(line)") == [])
    }

    @Test(arguments: [
        (
            "timeout: ${{ 1️⃣params.n }}",
            "FR0406 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found a whole number"
        ),
        (
            "timeout: 1️⃣${{ params.bad }}",
            "FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `soon`"
        ),
        (
            "timeout: 1️⃣${{ params.word }}",
            "FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `fast`"
        ),
        ("timeout: 1️⃣${{ params.n }}0", "FR0206 `timeout` needs a unit, found `20`"),
        (
            "timeout: ${{ 1️⃣vars.late }}",
            "FR0407 `timeout` has its value before the first step, and `vars.late` has not"
        ),
        (
            "timeout: ${{ 1️⃣vars.home }}",
            "FR0407 `timeout` has its value before the first step, and `vars.home` has not"
        ),
        (
            "grace: ${{ 1️⃣env.HOME ?? '1s' }}",
            "FR0407 `grace` has its value before the first step, and `env.HOME` has not"
        ),
        (
            "continue-on-error: ${{ 1️⃣exists('x') }}",
            "FR0407 `continue-on-error` has its value before the first step, and `exists()` has not"
        ),
        ("continue-on-error: ${{ 1️⃣params.n }}", "FR0406 `continue-on-error` takes true or false, found a whole number"),
        (
            "continue-on-error: 1️⃣${{ params.text }}",
            "FR0206 `continue-on-error` takes `true` or `false`, found the text `5m`"
        ),
        ("platforms: ${{ 1️⃣params.text }}", "FR0406 `platforms` takes a list, found a text"),
        (
            "platforms: 1️⃣[\"${{ params.good }}\"]",
            "FR0206 a platform is one of `linux`, `macos`, `windows`, `freebsd`, `x86_64`, `arm64` or `riscv64`, found `1s`"
        ),
        ("shell: ${{ 1️⃣params.flag }}", "FR0406 `shell` takes a shell's name or a list of words, found true or false"),
        ("confirm: ${{ 1️⃣params.list }}", "FR0406 `confirm` takes a text, found a list"),
        (
            "retry: ${{ 1️⃣params.n }}",
            "FR0406 `retry` takes a mapping such as `{ attempts: 3, delay: 5s }`, found a whole number"
        ),
        ("retry: { attempts: \"${{ 1️⃣params.list }}\" }", "FR0406 `attempts` takes a whole number, found a list"),
        (
            "retry: 1️⃣{ attempts: \"${{ len(params.list) }}\", backoff: 2 }",
            "FR0206 `backoff` has no effect without `delay`"
        ),
        ("1️⃣retry: { delay: \"${{ vars.short }}\" }", "FR0204 `retry` needs `attempts`"),
        ("retry: { attempts: \"${{ params.n }}\", 1️⃣dely: 2s }", "FR0201 unknown key `dely` in `retry`"),
        ("timeout: ${{ params.1️⃣nope }}", "FR0403 there is no parameter `nope`"),
        (
            "timeout: ${{ steps.1️⃣b.outcome }}",
            "FR0404 expected a step that `a` waits for, found `b`, which may still run when it starts"
        ),
        ("kill-signal: 1️⃣${{ params.text }}", "FR0402 `${{ }}` is not evaluated here"),
        (
            "for-each: [1s, no]\n    timeout: 1️⃣${{ item }}",
            "FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `no`"
        ),
        (
            "for-each: [linux]\n    platforms: [\"${{ 1️⃣item }}\"]",
            "FR0407 `item` has no value here: the key belongs to the whole fan-out, not to a copy"
        ),
        (
            "needs: [b]\n    for-each: \"${{ fromJSON(steps.b.stdout) }}\"\n    timeout: ${{ 1️⃣item }}",
            "FR0407 `timeout` has its value before the first step, and `item` has not"
        ),
        ("timeout: 1️⃣${{ params.text", "FR0401 this `${{` is not closed"),
    ])
    func `is refused at its place if it cannot be one`(line: String, finding: String) {
        let found = findings("steps:\n  b: { run: x }\n  a:\n    run: x\n    \(line)")
        #expect(found.count == 1)
        #expect(found.first?.replacing("❌", with: "") == "1️⃣ \(finding)")
    }

    private static let workflow = MarkedText(
        """
        version: 1
        \(params)
        max-parallel: ${{ params.n }}
        defaults: { timeout: "${{ params.text }}", grace: "${{ params.text }}" }
        templates:
          t:
            params: { limit: { default: 1h }, far: { default: x } }
            timeout: ${{ params.limit }}
            steps: { s: { run: x, confirm: "${{ params.limit }} ${{ params.n }}" } }
        steps:
          a: { run: x }
          b: { run: x, retry: { attempts: "${{ params.n }}", delay: "${{ vars.made }}", deadline: "${{ params.text }}" } }
          c: { matrix: { sh: [bash, sh], t: [1s, 2s], soft: ["true", "false"] }, run: x, timeout: "${{ t }}", shell: "${{ sh }}", continue-on-error: "${{ soft }}" }
          g:
            for-each: [zsh, ksh]
            as: sh
            shell: ${{ sh }}
            grace: ${{ if(sh == 'zsh', '1s', params.text) }}
            steps: { m: { for-each: [1, 2], as: sh, run: x }, p: { run: x, platforms: "${{ params.list }}", needs: [m] } }
          u: { uses: t, with: { limit: "${{ params.text }}" } }
          v: { uses: t }
          w: { needs: [a], uses: t, with: { far: "${{ steps.a.outcome }}" } }

        """)

    private func plan(_ given: (name: String, text: String)...) throws -> (plan: Plan?, diagnostics: [Diagnostic]) {
        let (decoded, found) = WorkflowDecoder.read(Self.workflow.file)
        #expect(found.isEmpty, "\(found.map(\.message))")
        let workflow = try #require(decoded)
        let values = try ParameterValues(given + [("need", "x")], for: workflow.parameters)
        return Planner.plan(workflow, known: KnownValues(fields: values.fields))
    }

    @Test func `has the value of the run in the plan`() throws {
        let planned = try plan(("text", "7m"), ("n", "4"), ("list", "macos"))
        let plan = try #require(planned.plan, "\(planned.diagnostics.map(\.message))")
        func row(_ id: String) throws -> PlanIndex { try #require(plan.row(id), "\(id)") }
        #expect(plan.maxParallel(of: .root) == 4)
        #expect(try plan.timeout(of: row("a")) == .seconds(420))
        #expect(try plan.grace(of: row("a")) == .seconds(420))
        let retry = try #require(plan.retry(of: row("b")))
        #expect(retry.attempts == 4 && retry.delay == .seconds(40) && retry.deadline?.duration == .seconds(420))
        #expect(try plan.timeout(of: row("c[bash,2s,true]")) == .seconds(2))
        #expect(try plan.shell(of: row("c[sh,1s,true]")) == .sh)
        #expect(try plan.toleratesFailure(of: row("c[bash,1s,true]")))
        #expect(try !plan.toleratesFailure(of: row("c[bash,1s,false]")))
        #expect(try plan.shell(of: row("g[zsh].m[1]")) == Shell(named: "zsh"))
        #expect(try plan.shell(of: row("g[ksh].p")) == Shell(named: "ksh"))
        #expect(try plan.grace(of: row("g[zsh].p")) == .seconds(1))
        #expect(try plan.grace(of: row("g[ksh].m[2]")) == .seconds(420))
        #expect(try plan.platforms(of: row("g[zsh].p")) == [.macos])
        #expect(try plan.timeout(of: row("u")) == .seconds(420))
        #expect(try plan.timeout(of: row("v")) == .seconds(3600))
        #expect(try plan.confirmation(of: row("u.s")) == "7m 4")
    }

    @Test(arguments: [
        ("text", "later", "`timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `later`"),
        ("n", "0", "`max-parallel` takes a whole number from 1 to 1000000, found `0`"),
        (
            "list", "amiga",
            "a platform is one of `linux`, `macos`, `windows`, `freebsd`, `x86_64`, `arm64` or `riscv64`, found `amiga`"
        ),
    ])
    func `ends the run before its first step if the key refuses it`(name: String, text: String, message: String) throws
    {
        let planned = try plan((name, text))
        #expect(planned.plan == nil)
        #expect(planned.diagnostics.map(\.message).contains(message))
        for finding in planned.diagnostics { #expect(Self.workflow.file.text(in: finding.range).contains("${{")) }
    }

    @Test func `is left open while its parameter has no value, and demands it`() throws {
        let marked = MarkedText(
            "version: 1\n\(Self.params)steps:\n  a: { run: x, timeout: \"${{ params.need }}\" }\n  b: { run: x }\n")
        let workflow = try #require(WorkflowDecoder.read(marked.file).workflow)
        let values = try ParameterValues([], for: workflow.parameters)
        let known = KnownValues(fields: values.fields)
        let plan = try #require(Planner.plan(workflow, known: known).plan)
        #expect(try plan.timeout(of: #require(plan.row("a"))) == nil)
        #expect(PlanReads(plan, known: known, wanted: []).parameters == ["need"])
        let other = try plan.restricted(to: ["b"])
        #expect(PlanReads(other, known: known, wanted: []).parameters == [])
    }

    @Test func `hides a secret in a value that is refused`() throws {
        let marked = MarkedText(
            "version: 1\n\(Self.params)steps: { a: { run: x, timeout: \"${{ params.text }}\" } }\n")
        let workflow = try #require(WorkflowDecoder.read(marked.file).workflow)
        let values = try ParameterValues([("text", "hush"), ("need", "x")], for: workflow.parameters)
        let known = KnownValues(fields: values.fields) { $0.contains("hush") }
        #expect(
            Planner.plan(workflow, known: known).diagnostics.map(\.message)
                == ["`timeout` does not accept the value, which has a secret in it"])
    }

    @Test(arguments: [
        "matrix: { os: \"${{ params.list }}\", v: [1, 2] }", "matrix: { os: [linux, \"${{ params.text }}\"] }",
        "matrix: { n: \"${{ range(0, params.n) }}\", include: [{ n: 0, more: x }] }\n    stdin: ${{ more ?? n }}",
        "matrix: { os: \"${{ params.list }}\" }\n    label: ${{ os }}",
    ])
    func `is the axis of a matrix as well`(line: String) {
        #expect(findings("steps:\n  a:\n    run: x\n    \(line)") == [])
    }

    @Test(arguments: [
        ("matrix: { os: \"${{ 1️⃣params.text }}\" }", "FR0406 `os` takes a list, found a text"),
        (
            "matrix: { os: [\"${{ 1️⃣vars.late }}\"] }",
            "FR0407 `matrix` has its value before the first step, and `vars.late` has not"
        ),
        ("matrix: 1️⃣{ os: [a, \"${{ lower('A') }}\"] }", "FR0206 `a` is in the list twice"),
        ("matrix: { 1️⃣os-x: \"${{ params.list }}\" }", "FR0211 `os-x` cannot name a variable"),
        ("matrix: { os: \"${{ params.list }}\" }\n    stdin: ${{ 1️⃣oz }}", "FR0403 unknown name `oz`"),
        (
            "matrix: { os: \"${{ params.list }}\", include: [{ os: \"1️⃣${{ params.text }}\" }] }",
            "FR0402 `${{ }}` is not evaluated here"
        ),
    ])
    func `is refused where it cannot be an axis`(line: String, finding: String) {
        let found = findings("steps:\n  a:\n    run: x\n    \(line)")
        #expect(found.first == "1️⃣ \(finding)")
    }

    @Test func `makes the copies of a matrix before the run`() throws {
        let marked = MarkedText(
            """
            version: 1
            params: { list: { type: list, default: [a, b] }, more: { default: c } }
            steps:
              m:
                matrix: { x: "${{ params.list }}", y: [3.10, "${{ params.more }}"], exclude: [{ x: a, y: 3.10 }] }
                run: x

            """)
        let workflow = try #require(WorkflowDecoder.read(marked.file).workflow)
        func ids(_ given: (name: String, text: String)...) throws -> [String] {
            let values = try ParameterValues(given, for: workflow.parameters)
            return try #require(Planner.plan(workflow, known: KnownValues(fields: values.fields)).plan).ids
        }
        #expect(try ids() == ["m", "m[a,c]", "m[b,3.10]", "m[b,c]"])
        #expect(try ids(("list", "a"), ("more", "d")) == ["m", "m[a,d]"])
        let bare = try #require(Planner.plan(workflow).plan)
        #expect(bare.fanOutsOfRun.count == 1)
        let wrong = try ParameterValues([("list", "p,p")], for: workflow.parameters)
        let planned = Planner.plan(workflow, known: KnownValues(fields: wrong.fields))
        #expect(planned.plan == nil && planned.diagnostics.map(\.message) == ["`p` is in the list twice"])
    }

    @Test(arguments: [
        (
            "a: { default: \"${{ 1️⃣params.b }}\" }\n  b: { default: x }",
            "FR0407 the default of `a` reads `params.b`, which is not declared before it"
        ),
        (
            "a: { default: \"${{ 1️⃣params.a }}\" }",
            "FR0407 the default of `a` reads `params.a`, which is not declared before it"
        ),
        (
            "a: { default: \"${{ 1️⃣vars.own }}\" }",
            "FR0407 the default of `a` reads `params.a`, which is not declared before it"
        ),
        (
            "a: { default: \"${{ 1️⃣vars.late }}\" }",
            "FR0407 a default has its value before the first step, and `vars.late` has not"
        ),
        (
            "a: { default: \"${{ 1️⃣exists('x') }}\" }",
            "FR0407 a default has its value before the first step, and `exists()` has not"
        ),
        (
            "z: {}\n  a: { type: int, default: \"${{ 1️⃣params.z }}\" }",
            "FR0406 the parameter `a` is a whole number, found a text"
        ),
        (
            "a: { default: \"${{ 1️⃣args }}\" }",
            "FR0407 `args` is known only in the words of a step's `run` list and in `with`"
        ),
    ])
    func `is the default of a parameter that reads only what comes before`(params: String, finding: String) {
        let vars = "vars: { own: \"${{ params.a }}\", late: { run: echo } }"
        let marked = MarkedText("version: 1\nparams:\n  \(params)\n\(vars)\nsteps: { s: { run: x } }\n")
        let (workflow, found) = WorkflowDecoder.read(marked.file)
        #expect(found.isEmpty)
        #expect(marked.summary(of: workflow.map(Planner.findings) ?? []).first == "1️⃣ \(finding)")
    }
}
