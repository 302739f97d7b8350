import FlowrunTestSupport
import Syntax
import Testing
import Workflow

struct `What runs and is hardly meant is a warning` {
    @Test(arguments: [
        (
            "run: [1️⃣cargo build, cargo test]",
            "FR0219? `cargo build` is one word of a list: a program with a blank in its name",
            "run: cargo build && cargo test"
        ),
        (
            "run: [1️⃣cargo build, --release]",
            "FR0219? `cargo build` is one word of a list: a program with a blank in its name",
            "run: [cargo, build, --release]"
        ),
        (
            "run: echo \"v=1\" >> \"1️⃣$FLOWRUN_OUTPUT\"",
            "FR0219? the step declares no `outputs`, so `$FLOWRUN_OUTPUT` is not set",
            "outputs: { v: string }\n    run: echo \"v=1\" >> \"$FLOWRUN_OUTPUT\""
        ),
        (
            "env: { PATH: \"bin:1️⃣$PATH\" }\nrun: x",
            "FR0219? `$PATH` is not expanded in `env`, whose values are taken as they are",
            "env: { PATH: \"bin:${{ env.PATH ?? '' }}\" }\n    run: x"
        ),
        (
            "env:\n  CARGO_HOME: 1️⃣~/cargo\nrun: x",
            "FR0219? `~` is not expanded in `env`, whose values are taken as they are",
            "env:\n      CARGO_HOME: \"${{ env.HOME ?? '' }}/cargo\"\n    run: x"
        ),
        (
            "env: { A: '1️⃣${HOME}/a' }\nrun: x",
            "FR0219? `${HOME}` is not expanded in `env`, whose values are taken as they are",
            "env: { A: \"${{ env.HOME ?? '' }}/a\" }\n    run: x"
        ),
        (
            "env: { X: 1️⃣$CI_COMMIT }\nrun: x",
            "FR0219? `$CI_COMMIT` is not expanded in `env`, whose values are taken as they are",
            "env: { X: \"${{ env.CI_COMMIT ?? '' }}\" }\n    run: x"
        ),
        (
            "env: { IMAGE: 'app:1️⃣${CI_TAG}' }\nrun: x",
            "FR0219? `${CI_TAG}` is not expanded in `env`, whose values are taken as they are",
            "env: { IMAGE: \"app:${{ env.CI_TAG ?? '' }}\" }\n    run: x"
        ),
    ])
    func `with a fix that a machine can make`(lines: String, finding: String, fixed: String) {
        let checked = checkStep(lines)
        #expect(checked.summary == ["1️⃣ \(finding)"])
        #expect(checked.fixed == "version: 1\nsteps:\n  a:\n    \(fixed)\n")
        #expect(Checked(checked.fixed).summary == [])
    }

    @Test(arguments: [
        ("run:\n  - 1️⃣cargo build\n  - --release", "write each word by itself: `cargo, build`"),
        (
            "env: { PATH: \"1️⃣$PWD/bin:$PATH\" }\nrun: x",
            "set it in the script: `export PATH=\"$PWD/bin:$PATH\"`"
        ),
        (
            "run: |\n  echo 'files=[\"a\"]' >> 1️⃣$FLOWRUN_OUTPUT\n",
            "declare what the step writes, such as `outputs: { NAME: string }`"
        ),
        (
            "run: echo v=1 >> 1️⃣$FLOWRUN_OUTPUT; echo w=1 >> $FLOWRUN_OUTPUT",
            "declare what the step writes, such as `outputs: { v: string }`"
        ),
        (
            "outputs: { all: { from: stdout } }\nrun: echo v=1 >> 1️⃣$FLOWRUN_OUTPUT",
            "declare what the step writes, such as `outputs: { v: string }`"
        ),
    ])
    func `or with words alone, where only a person knows`(lines: String, fix: String) throws {
        let checked = checkStep(lines)
        let finding = try #require(checked.diagnostics.first)
        #expect(checked.diagnostics.count == 1 && checked.marked.place(of: finding.range) == "1️⃣")
        #expect(finding.fix?.description == fix && finding.fix?.edits == [])
    }

    @Test(arguments: [
        "run: [\"/opt/my app/bin/tool\", x]", "run: [\"${{ args }} x\", y]", "run: [bash, -c, echo a b]",
        "run: echo \"v=1\" >> \"$FLOWRUN_OUTPUT\"\noutputs: { v: string }",
        "run: echo x >> ${FLOWRUN_OUTPUT:-/dev/null}", "run: |\n  # $FLOWRUN_OUTPUT\n  x",
        "run: x\nenv: { A: a$, B: ^x$, C: $foo, D: a~b, E: $$PATH, F: ~x, G: 5$ }",
        "run: x\nenv: { A: '^$X*', B: echo $CI, C: '$CI;', D: $X, E: $$CI }",
        "run: x\nenv: { GIT_SSH_COMMAND: \"ssh -i $HOME/.ssh/key\" }",
        "run: x\nenv: { A: \"${{ env.HOME ?? '' }}\", B: }".replacing(", B: }", with: " }"),
    ])
    func `what may be meant is left alone`(lines: String) {
        #expect(checkStep(lines).summary == [])
    }
}

struct `A make that takes no part in the jobs of the run is noted` {
    private static let serial = "`make` runs one recipe at a time here, since the step takes no part in the run's jobs"

    @Test(arguments: [
        ("run: 1️⃣make all", serial), ("run: [1️⃣make, all]", serial), ("run: cd src && CC=gcc time 1️⃣make", serial),
        ("run: |\n  # make\n  if test -e x; then\n    1️⃣gmake -C src; fi\n", serial),
        ("run: x=$(1️⃣make -s print)", serial),
        ("run: make 1️⃣-j4 all", "`-j4` runs jobs of its own beside those of the run"),
        ("run: [make, all, 1️⃣--jobs=4]", "`--jobs=4` runs jobs of its own beside those of the run"),
        ("run: make -C src 1️⃣-kj\njobserver: true", "`-kj` runs jobs of its own beside those of the run"),
    ])
    func `at its place`(lines: String, message: String) {
        #expect(checkStep(lines).summary == ["1️⃣ FR0228. \(message)"])
    }

    @Test(arguments: [
        "run: make\njobserver: true", "run: [make, all]\njobserver: fifo", "run: make -j4\njobserver: false",
        "run: echo make it so", "run: ./make", "run: cmake --build x", "run: '# make'", "run: [echo, make]",
        "run: |\n  cat <<E\n  make x\n  E\n", "run: x\nname: make", "run: echo \"run make\"; make_it",
    ])
    func `and nothing else is`(lines: String) { #expect(checkStep(lines).summary == []) }

    @Test func `once for a file, with a fix for the first step and the places of others`() {
        let checked = Checked(
            """
            version: 1
            steps:
              a: { run: 1️⃣make a }
              b: { run: make b }
              c: { jobserver: true, run: make c }
              d: { steps: { e: { run: make e }, f: { run: make f }, g: { run: make g }, h: { run: make h } } }
            """)
        #expect(checked.summary == ["1️⃣ FR0228. \(Self.serial)"])
        #expect(checked.fixed.contains("a: { jobserver: true, run: make a }"))
        #expect(
            checked.diagnostics.first?.notes.map(\.message)
                == ["the same here", "the same here", "the same here", "and in 2 more steps"])
    }
}

struct `What is in a list twice` {
    @Test(arguments: [
        ("mutex: [a, b, a]\nrun: x", "mutex: [a, b]\n    run: x"), ("mutex: [a, a]\nrun: x", "mutex: [a]\n    run: x"),
        ("mutex:\n  - a\n  - a\nrun: x", "mutex:\n      - a\n    run: x"),
    ])
    func `can be taken out by a machine`(lines: String, fixed: String) {
        #expect(checkStep(lines).fixed == "version: 1\nsteps:\n  a:\n    \(fixed)\n")
    }
}

struct `What is wrong with an alias is told at the alias` {
    @Test func `with the place that it stands for, and once`() {
        let checked = Checked(
            """
            version: 1
            steps:
              a: { run: x, env: &e { B: c } }
              b: { run: x, needs: 1️⃣*e }
              c: { if: &c "2️⃣! ", run: x }
              d: { if: *c, run: x }
              e: { run: x, timeout: 3️⃣*c }
            """)
        #expect(
            checked.summary == [
                "1️⃣ FR0206 `B` takes `success`, `failure` or `done`, found `c`",
                "2️⃣ FR0401 a value is missing at the end",
                "3️⃣ FR0206 `timeout` takes a duration such as `90s`, `10m` or `1h30m`, found `! `",
            ])
        let note = checked.diagnostics[0].notes.first
        #expect(note?.message == "the alias refers to this")
        #expect(checked.workflow?.needs.map { checked.marked.place(of: $0.range) } == ["1️⃣"])
    }
}
