import Testing

/// Taskfiles.
struct TaskfileTests {
    private func expect(
        _ tasks: String, top: String = "", _ wanted: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let output = try converted("version: '3'\n\(top)tasks:\n\(tasks)", "Taskfile.yml")
        #expect(wrongLines(output) == [], "\(output)", sourceLocation: sourceLocation)
        for text in wanted {
            #expect(output.contains(text), "not found:\n\(text)\nin:\n\(output)", sourceLocation: sourceLocation)
        }
    }

    @Test func `tasks are steps, and without a default they run by their names only`() throws {
        try expect(
            "  default: { deps: [a] }\n  a: echo a\n",
            ["default: [default]", "  default:\n    needs: [a]\n", "run: echo a\n"])
        try expect("  a: [echo a, echo b]\n", ["  a:\n    manual: true\n    run: |\n      echo a\n      echo b\n"])
    }

    @Test func `an if is if() in the environment and a test in a script`() throws {
        try expect(
            "  a: { cmds: ['cc {{.F}} -o x{{exeExt}} {{if .V}}-v{{end}}', '{{if ne .M \"dev\"}}echo \"a b\"{{else}}echo c{{end}}'] }\n",
            top: "vars: { M: '{{.M | default \"dev\"}}', F: '{{if eq .M \"rel\"}}-O3{{else}}-g{{end}}' }\n",
            [
                "F: ${{ if(params.M == 'rel', '-O3', '-g') }}\n",
                "cc $F -o x $(if [ -n \"$V\" ]; then printf %s -v; fi)\n",
                "if [ \"${M:-dev}\" = dev ]; then\n      echo c\n      else\n      echo \"a b\"\n      fi\n",
            ])
        // A shell reads the quotes of each branch.
        try expect(
            "  a: echo {{if .V}}\"a b\"{{end}}\n",
            ["if [ -n \"$V\" ]; then\n      echo \"a b\"\n      else\n      echo"])
        try expect("  a: echo {{range .V}}{{.}}{{end}}\n", ["a script has nothing like `{{range .V}}`", "exit 1"])
    }

    @Test func `a dotenv file whose name is computed leaves all tasks unfinished`() throws {
        try expect(
            "  a: echo\n", top: "dotenv: [.env, '{{.ENV}}/.env']\n",
            [
                "dotenv: { path: .env, optional: true }\n",
                "the name of the dotenv file `{{.ENV}}/.env` is computed", "exit 1",
            ])
    }

    @Test func `a loop over the sources is one over their patterns`() throws {
        try expect(
            "  a: { sources: ['src/*.c'], cmds: [{ for: sources, cmd: 'cc {{.ITEM}}' }] }\n",
            ["for ITEM in src/*.c; do\n      cc $ITEM\n      done\n"])
        try expect(
            "  a: { sources: ['**/*.c'], cmds: [{ for: sources, cmd: 'cc {{.ITEM}}' }] }\n",
            ["`for: sources` has no counterpart"])
    }

    @Test func `templates are variables`() throws {
        try expect(
            "  a: { cmds: ['echo {{.A}} ''{{.B}}'' {{.C}} {{.D}} {{.CLI_ARGS}} {{.TASK}} {{.E | default \"x\"}}'] }\n",
            top: "vars: { A: one, B: 'b-{{.A}}', C: { sh: date }, D: '{{.D | default \"d\"}}' }\n",
            [
                "env:\n  A: one\n  B: b-one\n", "D: { type: string, default: d, env: D }",
                "vars:\n  C: { run: date }\n", "echo $A \"$B\" $C ${D:-d} \"$@\" a ${E:-x}",
            ])
        try expect(
            "  a: echo {{.R}} {{.T}}\n", top: "vars: { F: x, R: { sh: 'git {{.F}}' }, T: 'b/{{.R}}' }\n",
            ["vars:\n  R: { run: git $F }\n", "  T: b/${{ vars.R }}\n", "echo $R $T"])
        // Read by itself.
        try expect(
            "  a: echo {{.R}}\n", top: "vars: { R: { sh: 'echo {{.R}}' } }\n", ["what `R` is could not be converted"])
    }

    @Test func `the negation of a computed value negates the whole`() throws {
        try expect(
            "  a: echo {{.OTHER}}\n",
            top: "vars: { FLAG: '{{if .DEBUG}}-g{{end}}', OTHER: '{{if empty .FLAG}}x{{end}}' }\n",
            ["if(if((env.DEBUG ?? '') != '', '-g', '') == '', 'x', '')"])
    }

    @Test func `calls between commands are copies in a sequence`() throws {
        try expect(
            "  a: { cmds: [x, { task: b, vars: { V: 1 } }, y] }\n  b: { cmds: ['echo {{.V}}'] }\n",
            [
                "order: sequence\n    steps:\n      commands:\n        run: x\n\n      b:\n        name: b V=1\n        env:\n          V: '1'\n"
                    + "        run: echo $V\n\n      commands-3:\n        run: 'y'\n"
            ])
    }

    @Test func `calls before commands are needs`() throws {
        try expect(
            "  a: { cmds: [{ task: b }, x] }\n  b: z\n", ["  a:\n    manual: true\n    needs: [b]\n    run: x\n"])
    }

    @Test func `a task that is needed with values is a further step`() throws {
        try expect(
            "  a: { deps: [{ task: b, vars: { V: x } }] }\n  b: { vars: { O: 'o/{{.V}}' }, cmds: ['echo {{.O}}'] }\n",
            [
                "needs: [b-V-x]",
                "  b-V-x:\n    name: b V=x\n    manual: true\n    env:\n      V: x\n      O: o/x\n    run: echo $O\n",
            ])
    }

    @Test func `what is deferred runs in the end`() throws {
        try expect(
            "  a: { cmds: [x, { defer: one }, { defer: two }] }\n",
            [
                "        finally:\n          deferred-1:\n            run: two || true\n\n          deferred-2:\n            run: one || true\n"
            ])
        try expect(
            "  a: { cmds: [{ defer: one }, x] }\n",
            [
                "    steps:\n      commands:\n        run: x\n    finally:\n      deferred-1:\n        run: one || true\n"
            ])
    }

    @Test func `conditions stand before the commands`() throws {
        try expect(
            "  a: { preconditions: [{ sh: test -f x, msg: no x }], requires: { vars: [V] }, status: [test -f y], cmds: [z] }\n",
            [
                "params:\n  V: { type: string, required: true, env: V }\n",
                "(test -f x) >/dev/null 2>&1 || { echo 'no x' >&2; exit 1; }\n",
                "if (test -f y) >/dev/null 2>&1; then exit 0; fi\n",
            ])
        try expect(
            "  a: { prompt: Sure?, if: test -f x, cmds: [z] }\n",
            ["confirm: Sure?\n", "(test -f x) >/dev/null 2>&1 || exit 0\n"])
    }

    @Test func `loops are loops of the shell`() throws {
        try expect(
            "  a: { cmds: [{ for: [x, 'y z'], cmd: 'echo {{.ITEM}}' }] }\n",
            ["for ITEM in x 'y z'; do\n      echo $ITEM\n      done\n"])
        try expect(
            "  a: { vars: { L: 'x,y' }, cmds: [{ for: { var: L, split: ',', as: I }, cmd: 'echo {{.I}}' }] }\n",
            ["for I in x y; do\n      echo $I\n"])
    }

    @Test func `settings of a task are keys of its step`() throws {
        try expect(
            "  a: { desc: D, dir: sub, dotenv: [.env], ignore_error: true, platforms: [linux/amd64, darwin], label: L, cmds: [x] }\n",
            [
                "name: L", "description: D", "working-directory: sub", "dotenv: { path: .env, optional: true }",
                "run: x || true", "platforms: [linux, x86_64, macos]",
            ])
    }

    @Test func `what has no counterpart is said with its lines`() throws {
        try expect(
            "  a: { cmds: [{ task: 'x:b' }] }\n  b:\n    sources: [x]\n    cmds: ['echo {{.A | upper}}']\n",
            [
                "there is no task `x:b` in this file", "sources: [x]",
                "a script has nothing like `{{.A | upper}}`",
            ])
        try expect(
            "  a: x\n", top: "includes: { x: ./x }\n",
            [
                "#     includes: { x: ./x }", "one of `includes`",
                "the include `x` was not read, and may define what this reads",
            ])
        try expect("  a: { oddword: x, cmds: [x] }\n", ["`oddword` was not understood", "exit 1"])
        try expect("  a: x\n", top: "oddword: x\n", ["`oddword` was not understood", "exit 1"])
    }

    @Test func `a task that is requested twice runs twice, or is unfinished`() throws {
        try expect(
            "  a: { cmds: [{ task: b }, { task: b }] }\n  b: x\n",
            ["  a:\n    manual: true\n    order: sequence\n    steps:\n      b:\n        run: x\n\n      b-2:"])
        let tasks = "  a: { deps: [b, c] }\n  b: { deps: [d], cmds: [x] }\n  c: { deps: [d], cmds: [y] }\n"
        try expect(tasks + "  d: z\n", ["task runs `d` 2 times for it, a step once: say `run: once` in `d`"])
        try expect(tasks + "  d: { run: once, cmds: [z] }\n", ["    needs: [b, c]\n"])
    }

    @Test func `a merge key is not lost`() throws {
        try expect("  a: &a { cmds: [x] }\n  b:\n    <<: *a\n    desc: B\n", ["<<: *a"])
    }

    @Test func `tasks that call one another end`() throws {
        try expect(
            "  a: { cmds: [x, { task: b }] }\n  b: { cmds: [y, { task: a }] }\n", ["tasks that run in one another"])
        try expect("  a: { deps: [b] }\n  b: { deps: [a] }\n", ["exit 1"])
    }
}
