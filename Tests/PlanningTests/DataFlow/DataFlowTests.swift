import FlowrunTestSupport
import Planning
import Syntax
import Testing
import Workflow

/// What decoding and planning a marked text gives.
struct Planned {
    let marked: MarkedText
    let plan: Plan?
    let diagnostics: [Diagnostic]

    /// The steps of a workflow, its other keys before them.
    init(_ steps: String, top: String = "") {
        let indented = steps.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)\n" }.joined()
        marked = MarkedText("version: 1\n\(top.isEmpty ? "" : top + "\n")steps:\n\(indented)")
        let (document, problems) = YAMLParser.parse(marked.file)
        guard let document else {
            (plan, diagnostics) = (nil, problems)
            return
        }
        let (workflow, mistakes) = WorkflowDecoder.decode(document)
        guard problems.isEmpty, mistakes.isEmpty, let workflow else {
            (plan, diagnostics) = (nil, problems + mistakes)
            return
        }
        (plan, diagnostics) = Planner.plan(workflow)
    }

    var summary: [String] { marked.summary(of: diagnostics) }
    var fixed: String { marked.applyingFixes(of: diagnostics) }

    /// The ids of the steps whose standard output is read.
    var standardOutputReads: [String] {
        guard let plan else { return [] }
        return plan.standardOutputReads.map { plan.workflow.path(of: $0) }.sorted()
    }
}

struct `What a step reads` {
    /// Steps with results of every kind.
    static let producers = """
        a: { run: x, outputs: { v: string, n: int, yes: bool, list: list, any: json } }
        maybe: { run: x, if: params.flag, outputs: { v: string } }
        soft: { run: x, continue-on-error: true, outputs: { v: string } }
        each: { run: x, for-each: [p, q], outputs: { v: int } }
        build:
          for-each: ${{ params.list }}
          as: target
          outputs: { size: "${{ steps.compile.outputs.bytes }}" }
          steps:
            compile: { run: x, outputs: { bytes: int } }
            smoke: { run: x, needs: [compile], if: params.flag, outputs: { v: string } }
        group:
          outputs: { w: "${{ steps.inner.outputs.v }}", text: "v${{ steps.inner.outputs.v }}" }
          steps:
            inner: { run: x, outputs: { v: int } }
        far: { run: x, outputs: { v: string } }
        near: { run: x, needs: [far] }
        """
    static let top = """
        params:
          flag: { type: bool, default: true }
          list: { type: list, default: [p] }
          text: { type: string, default: x }
          count: { type: int, default: 3 }
          channel: { type: enum, values: [nightly, stable], default: nightly }
        env: { SET: x }
        secrets: { TOKEN: { env: TOKEN } }
        """

    /// The findings about an expression in a step that needs all of them.
    private func check(_ expression: String, key: String = "run: [x, \"${{ % }}\"]", extra: String = "") -> Planned {
        let line = key.replacing("%", with: expression)
        return Planned(
            "\(Self.producers)\nreader:\n  needs: [a, maybe, soft, each, build, group, near]\n  \(line)\(extra)",
            top: Self.top)
    }

    @Test func `by a hook is ordered by a need of the group that has the hook`() {
        let planned = Planned(
            """
            make: { run: x, outputs: { v: string } }
            g:
              steps: { a: { run: x } }
              finally: { h: { run: [echo, "${{ steps.make.outputs.v ?? '' }}"] } }
            """)
        #expect(
            planned.diagnostics.map(\.message) == [
                "expected a step that `h` waits for, found `make`, which may still run when it starts"
            ])
        #expect(planned.diagnostics.first?.fix?.description == "add `needs: [make]` to `g`")
    }

    @Test func `is told with the step that has the text by an alias`() {
        let planned = Planned(
            """
            make: { run: x, outputs: { v: string } }
            a: { needs: [make], run: &say [echo, "${{ steps.make.outputs.v }}"] }
            b: { run: *say }
            """)
        #expect(
            planned.diagnostics.map(\.message) == [
                "expected a step that `b` waits for, found `make`, which may still run when it starts"
            ])
        #expect(planned.diagnostics.first?.notes.first?.message == "`b` has it by an alias")
        #expect(planned.diagnostics.first?.notes.first?.range.map { planned.marked.file.text(in: $0) } == "b")
    }

    @Test(arguments: [
        "steps.a.outputs.v", "steps.a.outputs.n == 3", "steps.a.outputs.yes && params.flag",
        "steps.a.outputs.list[0] ?? 1",
        "steps.a.outputs.any.deep[0].x", "steps.a.outcome == 'success'", "steps.a.exit_code", "steps.a.stdout",
        "steps.a.stdout == 'x'",
        "steps.maybe.outputs.v ?? 'd'", "steps.maybe.outcome", "steps.soft.outputs.v ?? 'd'", "steps.soft.stdout",
        "params.list[0]", "steps.each.outputs.v", "sum(steps.each.outputs.v)", "steps.each.items.*.outputs.v",
        "steps.each.items[0].item ?? 'x'",
        "join(steps.each.items.*.outcome, ',')", "steps.build.items.*.compile.outputs.bytes",
        "steps.build.outputs.size",
        "sum(steps.build.outputs.size) > 3", "steps.build.items.*.smoke.outputs.v ?? 'none'",
        "steps.build.items.*.item",
        "steps.group.outputs.w + 0".replacing(" + 0", with: ""), "startsWith(steps.group.outputs.text, 'v')",
        "steps.group.outcome",
        "steps.far.outputs.v", "params.channel == 'stable'", "params.list", "params.count > 2", "len(params.text)",
        "run.id", "run.name",
        "env.SET", "env.HOME ?? ''", "env.HOME == null", "fromJSON(params.text).a", "steps['a'].outputs['v']",
        "contains(params.list, 'x')", "contains(steps.a.outputs.list, 3)", "toJSON(steps.a)",
        "format('{0}', params.count)",
        "unique(params.list)[0] ?? 'x'", "hashFiles('*.c')", "[1, 2]",
        "sum(steps.build.items.*.compile.outputs.bytes ?? 0)", "steps.maybe.outputs.v ?? 3",
        "format('{0}', steps.maybe.outputs.v ?? 3)", "if(params.flag, 1, 'x')", "if(params.flag, 1, 2) > params.count",
        "if(params.flag, params.list, [])", "if(params.flag, steps.maybe.outputs.v, 'x') ?? 'y'",
        "glob('*.c', params.text)[0] ?? 'x'", "contains([1, 'a'], 2)",
        "split(params.text, ',')[0] ?? 'x'", "join(split(params.text, ','), ' ')", "replace(params.text, 'a', '')",
        "lower(params.channel) == upper(params.text)", "matches(params.text, params.text)", "exists(params.text)",
        "sum(range(0, params.count))", "range(0, 100000)",
    ])
    func `is fine where it is there`(expression: String) {
        #expect(check(expression).summary == [])
    }

    @Test(arguments: [
        ("params.1️⃣chanel", "FR0403 there is no parameter `chanel`"), ("1️⃣channel", "FR0403 unknown name `channel`"),
        ("1️⃣matrix.os", "FR0403 `matrix` is not a name that expressions know"),
        ("1️⃣github.sha", "FR0403 `github` is not a name that expressions know"),
        ("1️⃣secrets.TOKEN", "FR0403 an expression cannot read secrets"),
        ("1️⃣TOKEN", "FR0403 an expression cannot read secrets"),
        ("1️⃣parms.text", "FR0403 unknown name `parms`"), ("1️⃣a.outputs.v", "FR0403 unknown name `a`"),
        ("1️⃣params", "FR0403 a name is missing after `params`"), ("run.1️⃣number", "FR0403 `run` has no field `number`"),
        ("run.1️⃣outcome", "FR0407 the outcome of the run is known only in `finally` and `on-failure` of the workflow"),
        ("1️⃣previous.stdout", "FR0407 `previous` is known only in the members of a group with `order: sequence`"),
        ("1️⃣success()", "FR0407 `success()` can be asked only in `if`"),
        ("steps.1️⃣nope.outputs.v", "FR0403 there is no step or group `nope`"),
        ("steps.1️⃣reader.outcome", "FR0404 `reader` cannot read its own result"),
        ("steps.a.outputs.1️⃣w", "FR0403 `a` declares no output `w`"),
        ("steps.a.1️⃣outputz.v", "FR0403 `a` has no field `outputz`"),
        ("steps.a.1️⃣v", "FR0403 `a` has no field `v`, but an output"),
        ("steps.a.1️⃣conclusion", "FR0403 `a` has no field `conclusion`"),
        ("steps.group.1️⃣inner.outputs.v", "FR0403 `inner` is inside `group` and cannot be read from here"),
        ("steps.build.1️⃣compile", "FR0403 `compile` is inside `build` and cannot be read from here"),
        ("steps.group.1️⃣stdout", "FR0403 `group` has no field `stdout`"),
        ("steps.each.1️⃣stdout", "FR0403 `each` has no field `stdout`"),
        ("1️⃣env.NOT", "FR0405 `env.NOT` may have no value, because the variable may not be set"),
        (
            "1️⃣steps.maybe.outputs.v",
            "FR0405 `steps.maybe.outputs.v` may have no value, because `maybe` may not have succeeded"
        ),
        (
            "1️⃣steps.soft.outputs.v",
            "FR0405 `steps.soft.outputs.v` may have no value, because `soft` may not have succeeded"
        ),
        (
            "1️⃣steps.build.items[0].smoke.outputs.v",
            "FR0405 `steps.build.items[0].smoke.outputs.v` may have no value, because `smoke` may not have succeeded"
        ),
        (
            "1️⃣steps.maybe.stdout",
            "FR0405 `steps.maybe.stdout` may have no value, because `maybe` may not have succeeded"
        ),
        ("1️⃣params.count == 'x'", "FR0406 cannot compare a whole number and a text"),
        ("1️⃣params.flag < true", "FR0406 cannot order true or false and true or false"),
        ("1️⃣steps.a.outputs.n == '3'", "FR0406 cannot compare a whole number and a text"),
        ("1️⃣params.list == 'a'", "FR0406 cannot compare a list and a text"),
        (
            "params.channel == 1️⃣'stabel'",
            "FR0406 expected `nightly` or `stable`, found `stabel`, which the other side can never be"
        ),
        ("!1️⃣params.text", "FR0406 expected true or false, found a text"),
        ("params.flag && 1️⃣params.count", "FR0406 expected true or false, found a whole number"),
        ("steps.maybe.outputs.v ?? 1️⃣[3]", "FR0406 the default is a list and the value before it a text"),
        (
            "1️⃣(steps.maybe.outputs.v ?? 3) > 2",
            "FR0406 cannot order a text, a number or true or false and a whole number"
        ),
        ("if(1️⃣env.X, 1, 2)", "FR0405 `env.X` may have no value, because the variable may not be set"),
        ("if(1️⃣params.count, 1, 2)", "FR0406 expected true or false, found a whole number"),
        ("if(params.flag, 1, 1️⃣[2])", "FR0406 one value of `if` is a whole number, the other a list"),
        ("len(1️⃣if(params.flag, 1, 2))", "FR0406 expected a list or a text, found a whole number"),
        (
            "1️⃣if(params.flag, steps.maybe.outputs.v, 'x')",
            "FR0405 `if(params.flag, steps.maybe.outputs.v, 'x')` may have no value, because `maybe` may not have succeeded"
        ),
        ("split(1️⃣params.list, ',')", "FR0406 expected a text, found a list"),
        ("split(params.text, 1️⃣'')", "FR0406 expected a text of at least one character, found an empty one"),
        ("replace(params.text, 1️⃣'', 'x')", "FR0406 expected a text of at least one character, found an empty one"),
        ("replace(params.text, 'x', 1️⃣2)", "FR0406 expected a text, found a whole number"),
        ("lower(1️⃣params.flag)", "FR0406 expected a text, found true or false"),
        ("exists(1️⃣params.list)", "FR0406 expected a text, found a list"),
        ("range(0, 1️⃣params.text)", "FR0406 expected a whole number, found a text"),
        ("1️⃣range(0, 100001)", "FR0406 the list would have more than 100000 elements"),
        (
            "matches(params.text, 1️⃣'v[')",
            "FR0222 `v[` is not a regular expression that flowrun knows: `[` is not closed"
        ),
        ("glob(1️⃣params.count)", "FR0406 expected a text, found a whole number"),
        ("sum(1️⃣params.list)", "FR0406 expected a list of numbers, found one with a text"),
        ("sum(1️⃣params.count)", "FR0406 expected a list, found a whole number"),
        ("join(1️⃣params.text, ',')", "FR0406 expected a list, found a text"),
        ("len(1️⃣params.count)", "FR0406 expected a list or a text, found a whole number"),
        ("contains(params.list, 1️⃣3)", "FR0406 a whole number is never in a list of a text"),
        ("startsWith(1️⃣params.count, 'x')", "FR0406 expected a text, found a whole number"),
        ("fromJSON(1️⃣params.count)", "FR0406 expected a text, found a whole number"),
        ("format(1️⃣'{1}', 3)", "FR0406 the pattern names value 1, counted from 0, and there are 1"),
        ("params.list.1️⃣x", "FR0406 a list has no field `x`"), ("params.text.1️⃣x", "FR0406 a text has no field `x`"),
        ("params.text.1️⃣*", "FR0406 `.*` takes a list, found a text"),
        ("params.list[1️⃣'x' == 'y']", "FR0406 the index of a list is a whole number, found true or false"),
    ])
    func `is refused at its place`(expression: String, finding: String) {
        #expect(check(expression).summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        ("if: 1️⃣params.text", "FR0406 `if` takes true or false, found a text"),
        ("if: 1️⃣env.CI", "FR0405 `env.CI` may have no value, because the variable may not be set"),
        ("stdin: \"${{ 1️⃣params.list }}\"", "FR0406 `stdin` takes a text, found a list"),
        ("working-directory: \"${{ 1️⃣params.list }}/x\"", "FR0406 `working-directory` takes a text, found a list"),
        ("for-each: \"${{ 1️⃣params.text }}\"", "FR0406 `for-each` takes a list, found a text"),
        (
            "for-each: \"${{ 1️⃣[true] }}\"",
            "FR0406 items of `for-each` are texts, numbers or objects, found true or false"
        ),
        (
            "for-each: \"${{ 1️⃣steps.build.items.*.smoke.outputs.v }}\"",
            "FR0405 an item of the list may be missing, because `smoke` may not have succeeded"
        ),
        (
            "for-each: [a, b]\n  label: ${{ 1️⃣itm }}", "FR0403 unknown name `itm`"
        ),
        (
            "for-each: [a, b]\n  label: ${{ 1️⃣run.id }}",
            "FR0407 `label` reads only `item`, the variables of its own fan-out"
        ),
    ])
    func `has the type of its place`(lines: String, finding: String) {
        #expect(check("", key: lines, extra: "\n  run: x").summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        "if: success() && params.flag", "if: failure()", "if: \"${{ params.channel == 'stable' }}\"",
        "stdin: \"${{ steps.a.stdout }}\"",
        "for-each: \"${{ steps.a.outputs.list }}\"\n  env: { A: \"${{ item.x }}\" }",
        "for-each: \"${{ params.list }}\"\n  as: t\n  env: { A: \"${{ startsWith(t, 'x') }}\" }",
        "matrix: { os: [a, b], env: [c] }\n  env: { A: \"${{ os }}\" }",
        "for-each: \"${{ unique(steps.each.outputs.v) }}\"",
        "for-each: \"${{ steps.build.items.*.item }}\"\n  env: { A: \"${{ item == 'a' }}\" }",
    ])
    func `may stand in every place`(lines: String) {
        #expect(check("", key: lines, extra: "\n  run: x").summary == [])
    }

    @Test func `has to be among the ancestors, with a fix`() {
        let planned = Planned(
            "a: { run: x, outputs: { v: int } }\nb: { run: [x, \"${{ steps.1️⃣a.outputs.v }}\"] }\nc: { run: [x, \"${{ steps.2️⃣a.outcome }}\"] }"
        )
        #expect(
            planned.summary == [
                "1️⃣ FR0404 expected a step that `b` waits for, found `a`, which may still run when it starts",
                "2️⃣ FR0404 expected a step that `c` waits for, found `a`, which may still run when it starts",
            ])
        #expect(
            planned.diagnostics.map { $0.fix?.description } == [
                "add `needs: [a]` to `b`", "add `needs: { a: done }` to `c`",
            ])
    }

    @Test(arguments: [
        "a: { run: [x, \"${{ steps.b.outcome }}\"] }\nb: { needs: [a], run: x }",
        "a: { run: [x, \"${{ steps.b.outcome }}\"] }\nc: { needs: [a], steps: { d: { run: x } } }\nb: { needs: [c], run: x }",
        "c: { run: x }\nb: { needs: [g], run: x }\ng: { steps: { a: { run: [x, \"${{ steps.b.outcome }}\"] } } }",
        "g: { order: sequence, steps: { a: { run: [x, \"${{ steps.b.outcome }}\"] }, b: { run: x } } }",
    ])
    func `is no reason for a need that would close a cycle`(steps: String) {
        let planned = Planned(steps)
        #expect(planned.diagnostics.map(\.code) == [.unorderedRead])
        #expect(
            planned.diagnostics.map { $0.fix?.description } == [
                "`a` cannot need `b`, which waits for `a`: read the result in a step that starts after both"
            ])
    }

    @Test(arguments: ["always", "success", "failure", "cancelled"])
    func `named as a status function is that function in a condition`(name: String) {
        let planned = Planned("a: { if: \(name), run: x }\nb: { env: { A: \"${{ \(name) }}\" }, run: x }")
        #expect(planned.diagnostics.map(\.code) == [.unknownName, .unknownName])
        #expect(
            planned.diagnostics.map { $0.fix?.description }
                == ["write `\(name)()`", "write it in single quotes: `'\(name)'`"])
    }

    @Test(arguments: [
        ("{ a: success }", []), ("[a]", []), ("{ a: done }", ["1️⃣"]), ("{ a: failure }", ["1️⃣"]),
        ("{ mid: success }", []),
        ("[mid]", []), ("{ mid: failure }", []), ("{ mid: done }", ["1️⃣"]), ("{ picky: success }", []),
        ("[picky]", ["1️⃣"]),
        ("[status]", ["1️⃣"]), ("[conditional]", []), ("{ a: done, mid: success }", []),
    ])
    func `is there as far as the edges say so`(needs: String, markers: [String]) {
        let planned = Planned(
            """
            a: { run: x, outputs: { v: int } }
            mid: { run: x, needs: [a] }
            other: { run: x }
            picky: { run: x, needs: { a: success, other: failure } }
            status: { run: x, needs: [a], if: always() }
            conditional: { run: x, needs: [a], if: env.X == null }
            b:
              needs: \(needs)
              run: [x, "${{ 1️⃣steps.a.outputs.v }}"]
            """)
        let errors = planned.diagnostics.filter { $0.severity == .error }
        #expect(errors.map { planned.marked.place(of: $0.range) } == markers)
        #expect(errors.allSatisfy { $0.code == .possiblyAbsent })
    }

    @Test func `may be what a group around it needs, or a step before it in a sequence`() {
        let planned = Planned(
            """
            a: { run: x, outputs: { v: int } }
            g:
              needs: [a]
              order: sequence
              steps:
                first: { run: [x, "${{ steps.a.outputs.v }}"], outputs: { w: int } }
                second: { run: [x, "${{ steps.first.outputs.w }}", "${{ previous.outputs.w }}", "${{ previous.stdout }}"] }
                third:
                  steps:
                    inner: { run: [x, "${{ 1️⃣previous.exit_code }}", "${{ steps.first.outputs.w }}"] }
            """)
        #expect(
            planned.summary == [
                "1️⃣ FR0407 `previous` is known only in the members of a group with `order: sequence`"
            ])
    }

    @Test func `is kept of standard output, and of nothing else`() {
        let planned = Planned(
            """
            a: { run: x }
            b: { run: x, needs: [a], stdin: "${{ steps.a.stdout }}" }
            g:
              order: sequence
              steps:
                first: { run: x }
                second: { run: x, stdin: "${{ previous.stdout }}" }
                third: { run: x, if: previous.exit_code == 0 }
            """)
        #expect(planned.summary == [])
        #expect(planned.standardOutputReads == ["a", "g.first"])
    }

    @Test func `previous is none for the first, and none of its members' names are known outside`() {
        let planned = Planned(
            """
            g:
              order: sequence
              steps:
                first: { run: [x, "${{ 1️⃣previous.stdout }}"] }
                second: { run: [x, "${{ previous.outputs.2️⃣v }}"] }
            """)
        #expect(
            planned.summary == [
                "1️⃣ FR0407 `first` is the first of its sequence, there is no `previous`",
                "2️⃣ FR0403 `first` declares no output `v`",
            ])
    }

    @Test func `in a hook is every member of the body, with a default`() {
        let planned = Planned(
            """
            a: { run: x, outputs: { v: int } }
            g:
              steps:
                b: { run: x, outputs: { v: int } }
              finally:
                clean: { run: [x, "${{ steps.b.outputs.v ?? 0 }}", "${{ steps.b.outcome }}", "${{ run.1️⃣outcome }}", "${{ steps.2️⃣a.outcome }}"] }
            """,
            top: """
                finally:
                  report:
                    run: x
                    env: { O: "${{ run.outcome }}", A: "${{ 3️⃣steps.a.outputs.v }}", G: "${{ steps.g.outcome }}", S: "${{ steps.a.stdout ?? '' }}" }
                """)
        #expect(
            planned.summary.sorted() == [
                "1️⃣ FR0407 the outcome of the run is known only in `finally` and `on-failure` of the workflow",
                "2️⃣ FR0404 expected a step that `clean` waits for, found `a`, which may still run when it starts",
                "3️⃣ FR0405 `steps.a.outputs.v` may have no value, because `a` may not have succeeded",
            ])
    }

    @Test func `in outputs of a group is its members, which may have been skipped`() {
        let planned = Planned(
            """
            g:
              outputs: { v: "${{ steps.a.outputs.v }}", w: "${{ 1️⃣steps.b.outputs.v }}", x: "${{ steps.2️⃣c.outputs.v }}" }
              steps:
                a: { run: x, outputs: { v: int } }
                b: { run: x, if: run.name == 'x', outputs: { v: int } }
            c: { run: x, outputs: { v: int } }
            """, top: "outputs: { top: \"${{ steps.g.outputs.v == 'x' }}\" }")
        #expect(
            planned.summary == [
                "2:22 FR0406 cannot compare a whole number and a text",
                "1️⃣ FR0405 `steps.b.outputs.v` may have no value, because `b` may not have succeeded",
                "2️⃣ FR0404 expected a step that `g` waits for, found `c`, which may still run when it starts",
            ])
    }

    @Test func `in outputs of a group may be missing where a tolerated failure rules it out`() {
        let planned = Planned(
            """
            g:
              for-each: [x]
              outputs:
                b: ${{ 1️⃣steps.b.outputs.v }}
                c: ${{ 2️⃣steps.c.outputs.v }}
                d: ${{ steps.d.outputs.v }}
                e: ${{ steps.e.outputs.v }}
              steps:
                soft: { run: x, continue-on-error: true }
                each: { run: x, continue-on-error: true, for-each: [p] }
                b: { needs: { soft: success }, run: x, outputs: { v: int } }
                c: { needs: [b], run: x, outputs: { v: int } }
                d: { needs: { c: done }, run: x, outputs: { v: int } }
                e: { needs: { each: success }, run: x, outputs: { v: int } }
            r: { needs: { g: success }, run: [x, "${{ sum(3️⃣steps.g.items.*.c.outputs.v) }}", "${{ sum(steps.g.items.*.d.outputs.v) }}"] }
            """)
        #expect(
            planned.summary == [
                "1️⃣ FR0405 `steps.b.outputs.v` may have no value, because `b` may not have succeeded",
                "2️⃣ FR0405 `steps.c.outputs.v` may have no value, because `c` may not have succeeded",
                "3️⃣ FR0405 an element of `steps.g.items.*.c.outputs.v` may have no value, because `c` may not have succeeded",
            ])
    }

    @Test func `may be missing in a sequence whose member says what end it wants`() {
        let planned = Planned(
            """
            g:
              order: sequence
              steps:
                a: { run: x, outputs: { v: int } }
                b: { needs: { a: done }, run: [x, "${{ 1️⃣previous.outputs.v }}", "${{ 2️⃣steps.a.outputs.v }}"] }
                c: { needs: [b], run: [x, "${{ previous.outcome }}"] }
            """)
        #expect(
            planned.summary == [
                "1️⃣ FR0405 `previous.outputs.v` may have no value, because `a` may not have succeeded",
                "2️⃣ FR0405 `steps.a.outputs.v` may have no value, because `a` may not have succeeded",
            ])
    }

    @Test func `of an enum is always one of its words`() {
        let planned = Planned(
            """
            a: { run: x, if: params.given == 1️⃣'' }
            b: { run: x, if: params.set == 2️⃣'' }
            """,
            top: """
                params:
                  given: { type: enum, values: [p, q], required: true }
                  set: { type: enum, values: [p, q], default: p }
                """)
        let finding = "FR0406 expected `p` or `q`, found ``, which the other side can never be"
        #expect(planned.summary == ["1️⃣ \(finding)", "2️⃣ \(finding)"])
    }

    @Test func `at the top is nothing of steps`() {
        let planned = Planned("a: { run: x }", top: "env: { A: \"${{ steps.1️⃣a.outcome }}\", B: \"${{ 2️⃣env.A }}\" }")
        #expect(
            planned.summary == [
                "1️⃣ FR0404 this is evaluated before any step has run",
                "2️⃣ FR0405 `env.A` may have no value, because the variable may not be set",
            ])
    }

    @Test func `in the folder of defaults is checked, in a file without any other expression`() {
        let planned = Planned("a: { run: x }", top: "defaults: { working-directory: \"${{ params.1️⃣x }}\" }")
        #expect(planned.summary == ["1️⃣ FR0403 there is no parameter `x`"])
    }

    @Test func `in a cycle is no reason to hang`() {
        let planned = Planned(
            """
            a: { needs: [b], for-each: "${{ steps.b.items.*.item }}", run: x }
            b: { needs: [a], for-each: "${{ steps.a.items.*.item }}", run: x }
            """)
        #expect(planned.diagnostics.map(\.code) == [.dependencyCycle])
    }

    @Test func `of 20,000 steps that all read the first of a chain is checked in time`() {
        var lines = ["s0: { run: x, outputs: { v: int } }"]
        for index in 1..<20000 {
            lines.append("s\(index): { needs: [s\(index - 1)], run: [x, \"${{ steps.s\(index - 1).outcome }}\"] }")
        }
        lines.append("last: { needs: [s19999], run: [x, \"${{ steps.s0.outputs.v }}\"] }")
        #expect(Planned(lines.joined(separator: "\n")).summary == [])
    }

    @Test(arguments: [
        ("github.event_name == 'push'", "under GitHub the variable has it: `env.GITHUB_EVENT_NAME ?? ''`"),
        ("runner.os", "under GitHub the variable has it: `env.RUNNER_OS ?? ''`"),
        ("github.event.action", "let a step read it from the file that the variable GITHUB_EVENT_PATH names"),
    ])
    func `what GitHub's expressions read is in variables`(expression: String, fix: String) {
        #expect(check(expression).diagnostics.map { $0.fix?.description } == [fix])
    }

    @Test func `an axis is read without the word of other tools`() {
        let planned = Planned("a: { matrix: { os: [x] }, run: [x, \"${{ 1️⃣matrix.os }}\"] }")
        #expect(planned.summary == ["1️⃣ FR0403 `matrix` is not a name that expressions know"])
        #expect(planned.fixed.contains("\"${{ os }}\""))
    }
}
