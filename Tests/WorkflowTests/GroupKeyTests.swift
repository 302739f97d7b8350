import FlowrunTestSupport
import Syntax
import Testing
import Workflow

/// `outputs`, `retry` and `mutex` of a group, `pools`, `defaults`, `finally` and `on-failure`.
struct `A group's keys` {
    @Test func `are read at the top and below`() throws {
        let checked = Checked(
            """
            version: 1
            env-policy: clean
            log: grouped
            pools: { emulator: 2, gpu: 1 }
            defaults: { retry: { attempts: 2 }, env-policy: inherit, working-directory: "${{ params.x }}" }
            outputs: { all: "${{ steps.g.outputs.total }}" }
            steps:
              g:
                if: success()
                retry: { attempts: 4 }
                mutex: [a, b]
                outputs: { total: "${{ steps.s.outputs.n }}" }
                steps: { s: { run: x, outputs: { n: int } } }

            """)
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        #expect(workflow.pools.map(\.name) == ["emulator", "gpu"] && workflow.pools.map(\.size) == [2, 1])
        let defaults = try #require(workflow.defaults)
        #expect(defaults.retry?.attempts == 2 && defaults.environmentPolicy == .inherit)
        #expect(defaults.workingDirectory != nil && defaults.workingDirectory?.literal == nil)
        let top = try #require(workflow[.root].settings)
        #expect(top.environmentPolicy == .clean && top.log == .grouped && top.outputs.map(\.name) == ["all"])
        let group = try #require(checked.node("g")?.settings)
        #expect(group.condition?.text == "success()" && group.retry?.attempts == 4)
        #expect(group.mutexes.map(\.name) == ["a", "b"])
        guard case .expression(.parsed(let total)) = try #require(group.outputs.first).source else {
            Issue.record("a group's output is an expression")
            return
        }
        #expect(total.expression?.text == "steps.s.outputs.n")
    }

    @Test func `put hooks behind all members, on-failure first`() throws {
        let checked = Checked(
            """
            version: 1
            1️⃣finally:
              report: { run: x }
              mail: { run: x, needs: [report] }
            steps:
              build:
                finally: { clean: { run: x } }
                steps: { compile: { run: x } }
              test: { run: x }
            on-failure:
              notify: { steps: { a: { run: x } } }

            """)
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        #expect(
            workflow.nodes.map(\.id) == [
                "", "build", "compile", "finally", "clean", "test", "on-failure", "notify", "a", "finally", "report",
                "mail",
            ])
        #expect(workflow.nodes.map(\.subtreeEnd) == [12, 5, 3, 5, 5, 6, 9, 9, 9, 12, 11, 12])
        #expect(workflow.nodes.map(\.parent.row) == [0, 0, 1, 1, 3, 0, 0, 6, 7, 0, 9, 9])
        let hooks = workflow.nodes.map(\.hook)
        #expect(hooks[3] == .finally && hooks[6] == .onFailure && hooks[9] == .finally)
        #expect(hooks.compactMap { $0 }.count == 3)
        #expect(Array(workflow.members(of: .root)).map(\.row) == [1, 5, 6, 9])
        #expect(checked.marked.place(of: workflow.nodes[9].range) == "1️⃣")
        #expect(workflow.nodes[9].isGroup)
    }

    @Test(arguments: [
        ("pools: 1️⃣[a]", "FR0205 `pools` takes a mapping of names to sizes such as `{ emulator: 2 }`, found a list"),
        ("pools: { a: 1️⃣0 }", "FR0206 `a` takes a whole number from 1 to 1000000, found `0`"),
        ("pools: { 1️⃣a.b: 1 }", "FR0207 `a.b` cannot name a pool"),
        ("1️⃣resources: { a: 1 }", "FR0202 `resources` is not a key of the workflow; flowrun's word is `pools`"),
        ("1️⃣pool: a", "FR0201 `pool` is not a key of the workflow"),
        (
            "outputs: { a: 1️⃣int }",
            "FR0205 `a` takes an expression in `${{ }}` over the outputs of members, found the text `int`"
        ),
        (
            "outputs: { a: 1️⃣{ type: int } }",
            "FR0205 `a` takes an expression in `${{ }}` over the outputs of members, found a mapping"
        ),
        ("finally: 1️⃣{}", "FR0216 `finally` contains no step"),
        ("finally: 1️⃣[x]", "FR0205 `finally` takes a mapping of ids to steps, found a list"),
        ("finally: { 1️⃣run: x }", "FR0205 `finally` takes a mapping of ids to steps, found a step"),
        ("on-failure: { 1️⃣run: [x] }", "FR0205 `on-failure` takes a mapping of ids to steps, found a step"),
        ("finally: { 1️⃣steps: { b: { run: x } } }", "FR0205 `finally` takes a mapping of ids to steps, found a group"),
        ("finally: { 1️⃣b: {} }", "FR0204 `b` has neither `run` nor `steps`"),
        ("finally: { b: { run: 1️⃣true } }", "FR0205 `run` takes a script or a list of words, found the boolean `true`"),
        ("1️⃣handler_on: { exit: { run: x } }", "FR0202 flowrun has no key `handler_on`"),
    ])
    func `are refused where they say something wrong`(lines: String, finding: String) {
        #expect(Checked("version: 1\nsteps: { a: { run: x } }\n\(lines)\n").summary == ["1️⃣ \(finding)"])
    }

    @Test func `accept a hook's steps that are called like keys`() {
        #expect(Checked("version: 1\nsteps: { a: { run: x } }\nfinally: { steps: { run: x } }\n").summary == [])
        #expect(Checked("version: 1\nsteps: { a: { run: x } }\nfinally: { run: { run: x } }\n").summary == [])
    }

    @Test func `leave a hook's name to the hook`() {
        let message = "belongs to the steps that run after this group"
        let checked = Checked("version: 1\nsteps: { 1️⃣finally: { run: x } }\nfinally: { b: { run: x } }\n")
        #expect(checked.summary == ["1️⃣ FR0207 the id `finally` \(message)"])
        #expect(Checked("version: 1\nsteps: { finally: { run: x } }\n").summary == [])
        let inner = Checked(
            "version: 1\nsteps: { g: { steps: { 1️⃣on-failure: { run: x } }, on-failure: { b: { run: x } } } }\n")
        #expect(inner.summary == ["1️⃣ FR0207 the id `on-failure` \(message)"])
    }

    @Test func `have braces added where an output has none`() {
        let checked = Checked(
            "version: 1\nsteps: { a: { run: x } }\noutputs: { b: 1️⃣steps.a.outputs.c }\n")
        #expect(checked.diagnostics.map(\.code) == [.wrongType])
        #expect(checked.fixed.contains(#"outputs: { b: "${{ steps.a.outputs.c }}" }"#))
    }

    @Test func `may be those of a group without members, which succeeds at once`() {
        let checked = Checked("version: 1\nsteps: { g: { steps: 1️⃣{}, finally: { b: { run: x } } } }\n")
        #expect(checked.summary == ["1️⃣ FR0216? `steps` contains no step"])
        #expect(checked.workflow?.nodes.map(\.id) == ["", "g", "finally", "b"])
    }
}
