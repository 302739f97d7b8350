import FlowrunTestSupport
import Syntax
import Testing

struct `A step is refused` {
    @Test(arguments: [
        ("run: 1️⃣true", "FR0205 `run` takes a script or a list of words, found the boolean `true`"),
        ("run: 1️⃣42", "FR0205 `run` takes a script or a list of words, found the number `42`"),
        ("1️⃣run:", "FR0205 `run` takes a script or a list of words, found nothing"),
        ("run: 1️⃣{ a: b }", "FR0205 `run` takes a script or a list of words, found a mapping"),
        ("run: 1️⃣\"  \\n\"", "FR0206 the script of `run` is blank"),
        ("run: 1️⃣[]", "FR0216 the list of `run` is empty"),
        ("run: 1️⃣[\"\", a]", "FR0206 the command of `run` begins with an empty text"),
        ("run: [echo, 1️⃣a: b]", "FR0205 a command is a list of words, found a mapping in it"),
        ("run: x\nshell: 1️⃣bash -eu", "FR0206 `shell` takes one name, or a list of words, found `bash -eu`"),
        (
            "needs: [a]\n1️⃣timeout: 5m\nenv: { A: b }",
            "FR0204 `a` has no `run`, and without one `timeout` has no effect"
        ),
        ("needs: [a]\n1️⃣for-each: [x]", "FR0204 `a` has no `run`, and without one `for-each` has no effect"),
        ("needs: [a]\n1️⃣rnu: x", "FR0201 unknown key `rnu` in a step"),
        ("run: x\nshell: 1️⃣[]", "FR0216 the list of `shell` names no program"),
        ("run: [x]\n1️⃣shell: sh", "FR0209? `shell` has no effect, a `run` list is run without one"),
        ("run: x\ntimeout: 1️⃣30", "FR0206 `timeout` needs a unit, found `30`"),
        ("run: x\ntimeout: 1️⃣2.25", "FR0206 `timeout` needs a unit, found `2.25`"),
        ("run: x\ntimeout: 1️⃣0s", "FR0206 `timeout` takes a duration above zero, found `0s`"),
        ("run: x\ntimeout: 1️⃣1001d", "FR0206 `timeout` takes a duration of at most 1000 days, found `1001d`"),
        (
            "run: x\ntimeout: 1️⃣99999999999999999999s",
            "FR0206 `timeout` takes a duration of at most 1000 days, found `99999999999999999999s`"
        ),
        ("run: x\ntimeout: 1️⃣1m1h", "FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `1m1h`"),
        ("run: x\ntimeout: 1️⃣-5s", "FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `-5s`"),
        (
            "run: x\ntimeout: 1️⃣true",
            "FR0205 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found the boolean `true`"
        ),
        (
            "run: x\ncontinue-on-error: 1️⃣maybe",
            "FR0205 `continue-on-error` takes `true` or `false`, found the text `maybe`"
        ),
        (
            "run: x\ncontinue-on-error: 1️⃣Off",
            "FR0219 `continue-on-error` takes `true` or `false`, and `Off` is a text in YAML 1.2"
        ),
        (
            "run: x\nkill-signal: 1️⃣STOP",
            "FR0206 `kill-signal` takes one of `TERM`, `INT`, `HUP`, `QUIT`, `USR1`, `USR2` or `KILL`, found `STOP`"
        ),
        ("run: x\nworking-directory: 1️⃣\"\"", "FR0206 `working-directory` takes a path, found an empty text"),
        ("run: x\n1️⃣name:", "FR0205 `name` takes a text, found nothing"),
        ("run: x\n1️⃣max-parallel: 2", "FR0209 `max-parallel` has no effect here; it belongs to a fan-out or a group"),
        ("run: x\n1️⃣as: item", "FR0209 `as` has no effect here; it belongs to `for-each`"),
        ("run: x\n1️⃣order: sequence", "FR0201 `order` is not a key of a step"),
        ("run: x\n1️⃣defaults: {}", "FR0201 `defaults` is not a key of a step"),
        ("run: x\n1️⃣colour: red", "FR0201 unknown key `colour` in a step"),
        ("run: x\n1️⃣sources: \"${{ x }}\"", "FR0208 `sources` is not supported yet"),
        ("run: x\njobserver: 1️⃣pipe", "FR0205 `jobserver` takes `true`, `false` or `fifo`, found the text `pipe`"),
        (
            "run: x\ninteractive: true\n1️⃣stdin: x",
            "FR0209 an interactive step reads the terminal, so `stdin` has no effect"
        ),
        (
            "run: x\ninteractive: true\n1️⃣streams: separate",
            "FR0209 an interactive step writes to the terminal, so `streams` has no effect"
        ),
        (
            "run: x\ninteractive: true\noutputs: { 1️⃣v: { from: stdout } }",
            "FR0209 an interactive step writes to the terminal, so the output `v` cannot be `from: stdout`"
        ),
        (
            "run: x\n1️⃣undoes: []",
            "FR0201 `undoes` is a key of steps and groups below `on-failure` or `finally`, and this is a step"
        ),
        ("run: x\ninteractive: 1️⃣[]", "FR0205 `interactive` takes `true` or `false`, found a list"),
        ("steps: { b: { run: x } }\n1️⃣run: x", "FR0209 a node has either `run` or `steps`, this one has both"),
        ("env: {}\nuses: 1️⃣other.yml", "FR0224 cannot use `other.yml`: there is no folder to look for it in"),
        ("run: x\nenv: 1️⃣staging", "FR0205 `env` takes a mapping of names to values, found the text `staging`"),
        ("run: x\nenv: 1️⃣[A=1]", "FR0205 `env` takes a mapping of names to values, found a list"),
        ("run: x\nenv: { 1️⃣A=B: x }", "FR0211 `A=B` cannot name an environment variable"),
        ("run: x\nenv: { 1️⃣FLOWRUN_X: x }", "FR0212 `FLOWRUN_X` is set by flowrun, as all names with `FLOWRUN_`"),
        ("run: x\nenv: { 1️⃣A: }", "FR0219? `A` without a value is unset, not set to an empty text"),
        ("run: x\nenv: { A: 1️⃣[1] }", "FR0205 `A` takes a text, found a list"),
        ("run: x\ndotenv: [{ 1️⃣file: x, path: y }]", "FR0201 unknown key `file` in an entry of `dotenv`"),
        ("run: x\ndotenv: [1️⃣{ optional: true }]", "FR0204 this entry of `dotenv` has no `path`"),
        (
            "run: x\ndotenv: 1️⃣true",
            "FR0205 `dotenv` takes a path, or a list of paths and `{ path, optional }`, found the boolean `true`"
        ),
        ("run: x\nneeds: 1️⃣[]", "FR0216? `needs` is empty"),
        (
            "run: x\nneeds: 1️⃣b",
            "FR0205 `needs` takes a list of ids, or a mapping of ids to `success`, `failure` or `done`, found the text `b`"
        ),
        (
            "run: x\nneeds: 1️⃣5",
            "FR0205 `needs` takes a list of ids, or a mapping of ids to `success`, `failure` or `done`, found the number `5`"
        ),
        (
            "run: x\n1️⃣needs:",
            "FR0205 `needs` takes a list of ids, or a mapping of ids to `success`, `failure` or `done`, found nothing"
        ),
        ("run: x\nneeds: [b, 1️⃣true]", "FR0205 an entry of `needs` is an id, found the boolean `true`"),
        ("run: x\nneeds: [b, 1️⃣\"\"]", "FR0207 an entry of `needs` is empty"),
        ("run: x\nneeds: [1️⃣b: done]", "FR0205 an entry of `needs` is an id, found a mapping"),
        ("run: x\nneeds: { b: 1️⃣ok }", "FR0206 `b` takes `success`, `failure` or `done`, found `ok`"),
        ("run: echo 1️⃣${{ a }}", "FR0210 `${{` in a script: flowrun never puts a value into code"),
        ("run: |\n  echo\n  echo 'é' 1️⃣${{ a }}", "FR0210 `${{` in a script: flowrun never puts a value into code"),
        ("run: x\nkill-signal: 1️⃣${{ a }}", "FR0402 `${{ }}` is not evaluated here"),
    ])
    func `where it says something wrong`(lines: String, finding: String) {
        #expect(checkStep(lines).summary == ["1️⃣ \(finding)"])
    }

    @Test(arguments: [
        ("1️⃣deps: [b]\nrun: x", "`deps` is not a key of a step; flowrun's word is `needs`"),
        ("run: x\n1️⃣depends_on: [b]", "`depends_on` is not a key of a step; flowrun's word is `needs`"),
        ("1️⃣cmd: x", "`cmd` is not a key of a step; flowrun's word is `run`"),
        ("1️⃣script: x", "`script` is not a key of a step; flowrun's word is `run`"),
        ("run: x\n1️⃣environment: { A: b }", "`environment` is not a key of a step; flowrun's word is `env`"),
        ("run: x\n1️⃣dir: x", "`dir` is not a key of a step; flowrun's word is `working-directory`"),
        (
            "run: x\n1️⃣timeout-minutes: 10",
            "`timeout-minutes` is not a key of a step; flowrun's word is `timeout`, with a unit"
        ),
        (
            "run: x\n1️⃣allow_failure: true",
            "`allow_failure` is not a key of a step; flowrun's word is `continue-on-error`"
        ),
        (
            "run: x\n1️⃣strategy: { matrix: { os: [a] } }",
            "`strategy` is not a key of a step; what is below it belongs here itself"
        ),
        ("run: x\n1️⃣requires: [b]", "`requires` is not a key of a step; flowrun's word is `needs`"),
        ("run: x\n1️⃣requires: { vars: [V] }", "flowrun has no key `requires`"),
        (
            "run: x\n1️⃣requires: { if: true, message: x }",
            "`requires` is not a key of a step; flowrun's word is `require`"
        ),
        (
            "run: x\n1️⃣requires: [{ if: true, message: x }]",
            "`requires` is not a key of a step; flowrun's word is `require`"
        ),
        ("run: x\n1️⃣extends: b", "flowrun has no key `extends`"),
        ("1️⃣use: other.yml", "`use` is not a key of a step; flowrun's word is `uses`"),
        ("1️⃣import: other.yml", "`import` is not a key of a step; flowrun's word is `uses`"),
        (
            "run: x\n1️⃣preconditions: [{ sh: test -f x, msg: no x }]",
            "`preconditions` is not a key of a step; flowrun's word is `require`"
        ),
        ("run: x\n1️⃣desc: x", "`desc` is not a key of a step; flowrun's word is `description`"),
        ("run: x\n1️⃣when: x", "`when` is not a key of a step; flowrun's word is `if`"),
        (
            "run: x\n1️⃣retries: 3",
            "`retries` is not a key of a step; flowrun's word is `retry`, which counts all attempts"
        ),
        (
            "run: x\n1️⃣retryStrategy: { attempts: 3 }",
            "`retryStrategy` is not a key of a step; flowrun's word is `retry`"
        ),
        ("run: x\n1️⃣withItems: [a]", "`withItems` is not a key of a step; flowrun's word is `for-each`"),
        ("run: x\n1️⃣concurrency: x", "`concurrency` is not a key of a step; flowrun's word is `mutex`"),
        ("run: x\n1️⃣output: x", "`output` is not a key of a step; flowrun's word is `outputs`"),
        ("run: x\n1️⃣queue: x", "`queue` is not a key of a step; flowrun's word is `pool`"),
        ("run: x\n1️⃣os: [linux]", "`os` is not a key of a step; flowrun's word is `platforms`"),
        ("run: x\n1️⃣silent: true", "`silent` is not a key of a step; flowrun's word is `log`"),
        (
            "run: x\n1️⃣call: other.yml", "`call` is not a key of a step; flowrun's word is `uses`"
        ),
        ("run: x\n1️⃣inputs: { a: x }", "`inputs` is not a key of a step; flowrun's word is `params`"),
        (
            "run: x\n1️⃣ensure: { b: { run: x } }",
            "`ensure` is not a key of a step, and neither is flowrun's word for it, `finally`"
        ),
        (
            "steps: { b: { run: x } }\n1️⃣ensure: { c: { run: x } }",
            "`ensure` is not a key of a group; flowrun's word is `finally`"
        ),
        (
            "steps: { b: { run: x } }\n1️⃣on_failure: { c: { run: x } }",
            "`on_failure` is not a key of a group; flowrun's word is `on-failure`"
        ),
        ("steps: { b: { run: x } }\n1️⃣limit: 2", "`limit` is not a key of a group; flowrun's word is `max-parallel`"),

    ])
    func `for a word of another tool, with flowrun's`(lines: String, words: String) {
        #expect(checkStep(lines).summary == ["1️⃣ FR0202 \(words)"])
    }

    @Test(arguments: [
        ("run: true", "run: \"true\""), ("run: x\ntimeout: 30", "run: x\ntimeout: 30s"),
        ("run: x\ntimeout: 10 Minutes", "run: x\ntimeout: 10m"), ("run: x\ntimeout: 1.5h", "run: x\ntimeout: 1h30m"),
        ("run: x\ntimeout-minutes: 90", "run: x\ntimeout: 1h30m"), ("run: x\ngrace: 0", "run: x\ngrace: 0s"),
        ("run: x\ncontinue-on-error: yes", "run: x\ncontinue-on-error: true"),
        ("run: x\ncontinue-on-error: \"false\"", "run: x\ncontinue-on-error: false"),
        ("run: x\nneeds: a", "run: x\nneeds: [a]"), ("run: x\nneeds: [true]", "run: x\nneeds: [\"true\"]"),
        ("run: x\nneeds: { b: always }", "run: x\nneeds: { b: done }"),
        ("run: x\nneeds: { b: sucess }", "run: x\nneeds: { b: success }"),
        ("run: x\nkill-signal: sigint", "run: x\nkill-signal: INT"),
        ("run: x\nshell: bash -eu", "run: x\nshell: [bash, -eu, -c]"),
        ("cmd: x", "run: x"), ("run: x\ntime-out: 5m", "run: x\ntimeout: 5m"),
        ("run: x\nkillSignal: INT", "run: x\nkill-signal: INT"),
        ("run: x\nmatrix: { os: linux }", "run: x\nmatrix: { os: [linux] }"),
        ("run: x\nenv: { A: }", "run: x\nenv: { A: \"\"}"),
        ("run: x\nretries: 3", "run: x\nretry: { attempts: 4 }"),
        ("run: x\nretry: 3", "run: x\nretry: { attempts: 3 }"),
        ("run: x\nretry: { limit: 3 }", "run: x\nretry: { attempts: 3 }"),
        ("run: x\nretry: { attempts: 2, when: [\"7\"] }", "run: x\nretry: { attempts: 2, when: [7] }"),
        ("run: x\nplatforms: linux", "run: x\nplatforms: [linux]"),
        ("run: x\nplatforms: [darwin]", "run: x\nplatforms: [macos]"),
        ("run: x\noutputs: { a: integer }", "run: x\noutputs: { a: int }"),
        ("run: x\nfor-each: steps.b.outputs.c", "run: x\nfor-each: \"${{ steps.b.outputs.c }}\""),
        // Key and value of another tool.
        ("run: x\ndeps: b", "run: x\nneeds: [b]"), ("run: x\ndeps: [{ task: b }, c]", "run: x\nneeds: [b, c]"),
        ("run: x\nignore_errors: yes", "run: x\ncontinue-on-error: true"),
        ("run: x\nwhen: always", "run: x\nif: always()"), ("run: x\nwhen: on_failure", "run: x\nif: failure()"),
        ("cmds: [echo a, echo b]", "run: echo a && echo b"),
        ("run: x\nretry_policy: 3", "run: x\nretry: { attempts: 3 }"),
    ])
    func `with a fix that a machine can make`(lines: String, fixed: String) {
        let checked = checkStep(lines)
        #expect(checked.diagnostics.count == 1)
        #expect(checked.fixed == checkStep(fixed).fixed)
        #expect(checkStep(fixed).summary == [])
    }

    @Test(arguments: [
        ("parallel: 3", "write `for-each` with an item for each copy"),
        ("only: [main]", "write a condition: `if: EXPR"),
        ("allow_failure: { exit_codes: [3] }", "write `continue-on-error` with a value that it takes"),
        ("rules: [{ if: x }]", "write `if` with a value that it takes"),
        ("limit: 3", "remove it"), ("environment: [A=b]", "write `NAME: value` in place of `- NAME=value`"),
    ])
    func `and no edit that makes a key whose value is refused`(line: String, fix: String) throws {
        let checked = checkStep("run: x\n\(line)")
        let finding = try #require(checked.diagnostics.first)
        #expect(checked.diagnostics.count == 1 && finding.code == .foreignKey)
        #expect(finding.fix?.description.hasPrefix(fix) == true, "\(String(describing: finding.fix))")
        #expect(finding.fix?.edits.isEmpty == true)
    }

    @Test func `a value that flowrun's key does not take is noted under that key`() {
        let checked = checkStep("run: x\n1️⃣deps: 2️⃣b")
        let expected = "a list of ids, or a mapping of ids to `success`, `failure` or `done`"
        #expect(
            checked.diagnostics.flatMap(\.notes).map(\.message) == ["`needs` takes \(expected), found the text `b`"])
        #expect(checked.diagnostics.flatMap(\.notes).compactMap(\.range).map { checked.marked.place(of: $0) } == ["2️⃣"])
    }

    @Test(arguments: [
        ("{ run: echo a, 1️⃣words }", "quote the value before it if the `,` belongs to that"),
        ("{ run: echo a, 1️⃣words: b }", nil), ("{ run: [a, 1️⃣[b, c]] }", "write its words one by one"),
        ("{ run: [a, 1️⃣null] }", "quote the word"),
    ])
    func `in braces, and where the value before it is meant`(step: String, fix: String?) {
        let checked = Checked("version: 1\nsteps:\n  a: \(step)\n")
        #expect(checked.summary.map { $0.hasPrefix("1️⃣ FR020") } == [true])
        #expect(checked.diagnostics.map(\.fix?.description) == [fix])
    }

    @Test func `with the way to a variable that single quotes allow`() {
        let checked = Checked(
            "version: 1\nparams: { v: { default: x } }\nsteps:\n  a: { run: \"echo '${{ params.v }}' '${{ env.W }}'\" }\n"
        )
        #expect(
            checked.diagnostics.map { $0.fix?.description.split(separator: ",").first }
                == ["v", "W"].map { "write `\"$\($0)\"` outside of the single quotes" })
        #expect(checked.diagnostics.allSatisfy { $0.fix?.edits.isEmpty == true })
    }

    @Test(arguments: [
        ("strategy: { matrix: { os: [a] } }\nrun: x", "matrix: { os: [a] }\n    run: x"),
        ("strategy:\n  matrix:\n    os: [a]\nrun: x", "matrix:\n        os: [a]\n    run: x"),
        ("run: x\nif: test -f go.mod", "run: x\n    if: \"exists('go.mod')\""),
        ("run: x\nif: \"[ ! -f x ]\"", "run: x\n    if: \"[ ! -f x ]\""),
        ("run: x\nif: [ -f, a/b.c ]", "run: x\n    if: \"exists('a/b.c')\""),
        ("run: x\nif: \"! test -e x\"", "run: x\n    if: \"!exists('x')\""),
    ])
    func `what another tool would take becomes what flowrun does`(lines: String, fixed: String) {
        let checked = checkStep(lines)
        #expect(checked.diagnostics.count == 1)
        #expect(checked.fixed == "version: 1\nsteps:\n  a:\n    \(fixed)\n")
        #expect(checked.diagnostics[0].fix?.edits.isEmpty == true || Checked(checked.fixed).summary == [])
    }

    @Test(arguments: [
        ("echo ${{ params.v }}", "echo \"$v\""), ("echo \"a ${{ params.v }}b\"", "echo \"a ${v}b\""),
        ("echo \"${{ params.v }}\"", "echo \"$v\""), ("echo '${{ params.v }}'", nil), ("echo ${{ params.w }}", nil),
        ("cat << E\n  ${{ params.v }}\n  E", nil), ("echo it\\'s ${{ params.v }}", "echo it\\'s \"$v\""),
        ("x # don't\n  echo ${{ inputs.v }}", "x # don't\n  echo \"$v\""),
    ])
    func `a parameter in a script is the variable that is there already`(script: String, fixed: String?) {
        let head = "version: 1\nparams: { v: { default: x } }\nsteps:\n  a:\n    run: |\n"
        let lines = { (text: String) in head + text.split(separator: "\n").map { "      \($0)\n" }.joined() }
        let checked = Checked(lines(script))
        #expect(checked.diagnostics.map(\.code) == [.expressionInScript])
        #expect(checked.fixed == lines(fixed ?? script))
    }
}
