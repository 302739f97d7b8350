import FlowrunTestSupport
import Syntax
import Testing

@testable import Workflow

struct `A workflow file` {
    @Test func `says all that the model holds`() throws {
        let checked = Checked(
            """
            version: 1
            name: release
            description: builds and ships
            timeout: 2h
            max-parallel: 8
            fail-fast: drain
            order: sequence
            env: { A: 1, B: null, C: "x y", D: no }
            dotenv: [base.env, { path: local.env, optional: true }]
            defaults: { shell: sh, working-directory: src, timeout: 10m, grace: 0s, kill-signal: INT }
            steps:
              build:
                name: Build
                needs: { lint: done, fetch: success, x: failure }
                steps:
                  compile: { run: [cc, -j, 4, true], env: { T: x } }
                  link:
                    needs: [compile]
                    run: |
                      cc link
                    timeout: 1h30m
                    grace: 250ms
                    kill-signal: HUP
                    shell: [zsh, -c]
                    working-directory: out
                    continue-on-error: true
              lint: { run: ./lint }

            """)
        #expect(checked.summary == [])
        let workflow = try #require(checked.workflow)
        #expect(workflow.name == "release" && workflow.description == "builds and ships")
        let defaults = try #require(workflow.defaults)
        #expect(defaults[.shell] == Shell.sh && defaults.workingDirectory == "src")
        #expect(defaults.timeout?.duration == .seconds(600) && defaults[.grace] == Duration.zero)
        #expect(defaults[.killSignal] == KillSignal.int)

        let top = try #require(workflow[.root].settings)
        #expect(
            top.timeout?.duration == .seconds(7200) && top[.maxParallel] == 8 && top[.failFast] == FailFastWord.drain)
        #expect(top.isSequence && top.name == nil)
        #expect(
            top.env == [
                EnvironmentEntry(name: "A", value: "1"), EnvironmentEntry(name: "B", value: nil),
                EnvironmentEntry(name: "C", value: "x y"), EnvironmentEntry(name: "D", value: "no"),
            ])
        #expect(top.dotenv.map(\.path) == ["base.env", "local.env"] && top.dotenv.map(\.isOptional) == [false, true])

        let build = try #require(checked.node("build"))
        #expect(build.isGroup && build.settings?.name == "Build")
        #expect(
            workflow.needs(of: build).map { "\($0.name) \($0.kind)" } == ["lint done", "fetch success", "x failure"])
        guard case .arguments(["cc", "-j", "4", "true"]) = try #require(checked.node("compile")).body else {
            Issue.record("a list is an argv")
            return
        }
        let link = try #require(checked.node("link"))
        guard case .script(let script) = link.body, script.text(in: workflow.file) == "cc link\n" else {
            Issue.record("a text is a script")
            return
        }
        #expect(workflow.needs(of: link).map { "\($0.name) \($0.kind)" } == ["compile ok"])
        let settings = try #require(link.settings)
        #expect(settings.timeout?.duration == .seconds(5400) && settings[.grace] == Duration.milliseconds(250))
        #expect(settings[.killSignal] == KillSignal.hup && settings[.shell] == Shell(arguments: ["zsh", "-c"]))
        #expect(settings.workingDirectory == "out" && settings.continueOnError)
        #expect(try #require(checked.node("lint")).settings == nil)
    }

    @Test func `becomes rows in preorder`() throws {
        let checked = Checked(
            "version: 1\nsteps:\n  1️⃣a:\n    steps:\n      b: { steps: { 2️⃣c: { run: x } } }\n      d: { run: x }\n  e: { run: x }\n"
        )
        let workflow = try #require(checked.workflow)
        #expect(workflow.nodes.map(\.id) == ["", "a", "b", "c", "d", "e"])
        #expect(workflow.nodes.map(\.subtreeEnd) == [6, 5, 4, 4, 5, 6])
        #expect(workflow.nodes.map(\.parent.row) == [0, 0, 1, 2, 1, 0])
        #expect(Array(workflow.members(of: NodeIndex(1))).map(\.row) == [2, 4])
        #expect(checked.marked.place(of: workflow.nodes[1].range) == "1️⃣")
        #expect(checked.marked.place(of: workflow.nodes[3].range) == "2️⃣")
    }

    @Test func `may be as small as one step, and may be JSON`() {
        #expect(Checked("version: 1\nsteps:\n  a: { run: echo }\n").summary == [])
        #expect(
            Checked(#"{"version": 1, "steps": {"a": {"run": "echo"}, "b": {"run": "x", "needs": ["a"]}}}"#).summary
                == [])
    }

    @Test func `gives steps their anchors' contents`() throws {
        let checked = Checked(
            "version: 1\nsteps:\n  a: &a\n    run: x\n    env: &e { X: 1 }\n  b: *a\n  c: { run: x, env: *e }\n")
        #expect(checked.summary == [])
        #expect(checked.workflow?.nodes.dropFirst().compactMap(\.settings?.env.count) == [1, 1, 1])
    }

    @Test(arguments: [
        ("echo 'é' # c", "echo 'é'"), ("\"echo \\t x\"", "echo \t x"), ("'it''s'", "it's"), ("\"plain\"", "plain"),
        ("|\n      a\n\n      b\n", "a\n\nb\n"), (">-\n      a\n      b\n", "a b"), ("a\n      b", "a b"),
    ])
    func `hands its scripts on byte for byte`(source: String, script: String) throws {
        let checked = Checked("version: 1\nsteps:\n  a:\n    run: \(source)\n  b: { run: x }\n")
        guard case .script(let found) = try #require(checked.node("a")).body else {
            Issue.record("a text is a script")
            return
        }
        #expect(found.text(in: checked.marked.file) == script)
    }

    @Test func `keeps its steps whatever is wrong with them`() throws {
        let checked = Checked(
            """
            version: 1
            steps:
              a:
              b: make
              c: { needs: [a], run: true }
              d: { deps: [c], cmd: x }
              e: { need: [d], runn: x }
              g: { steps: [x] }
              a.b: { run: x }

            """)
        let workflow = try #require(checked.workflow)
        #expect(workflow.nodes.map(\.id) == ["", "a", "b", "c", "d", "e", "g", "a.b"])
        #expect(workflow.needs.map(\.name) == ["a", "c", "d"])
        #expect(checked.node("g")?.isGroup == true)
    }

    @Test(arguments: [
        ("90s", 90_000), ("10m", 600_000), ("1h30m", 5_400_000), ("250ms", 250), ("2h", 7_200_000), ("1d", 86_400_000),
        ("1d2h3m4s5ms", 93_784_005), ("1000d", 86_400_000_000), ("010s", 10_000),
    ])
    func `gives durations in units`(text: String, milliseconds: Int) {
        let checked = checkStep("run: x\ntimeout: \(text)")
        #expect(checked.summary == [])
        #expect(checked.node("a")?.settings?.timeout?.duration == .milliseconds(milliseconds))
    }
}
