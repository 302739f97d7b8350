import FlowrunTestSupport
import Testing

/// The error of a failed script names the command and its line in the workflow file, or shows the script.
struct FailedCommandTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        /// The step's keys; the line with 👈 is the one to be named.
        let step: String
        let command: String
        var testDescription: String { name }

        init(_ name: String, _ step: String, names command: String) {
            self.name = name
            self.step = step
            self.command = command
        }
    }

    private static let examples = [
        Example("a block scalar", "run: |\n  echo a\n  test -f nope # 👈\n  echo b", names: "test -f nope"),
        Example("the last line", "run: |\n  echo a\n\n  # comment\n  test -f nope # 👈", names: "test -f nope"),
        Example("the line before the last", "run: |\n  echo a\n  test -f nope # 👈\n  make\n", names: "test -f nope"),
        Example("an indented block", "run: |2-\n    echo a\n    test -f nope # 👈\n    true", names: "test -f nope"),
        Example(
            "a folded scalar", "run: >\n  echo one;\n  test -f two; 👈\n  echo three", names: "test -f two"),
        Example(
            "a folded scalar with paragraphs",
            "run: >-\n  echo one\n\n  echo two;\n  test -f three; 👈\n  echo four\n\n  echo five",
            names: "test -f three"),
        Example("a quoted scalar", "run: 'echo a;\n  test -f b; 👈\n  echo c'", names: "test -f b"),
        Example("a plain scalar", "run: echo a;\n  test -f b; 👈\n  echo c", names: "test -f b"),
        Example(
            "a function",
            "run: |\n  check() {\n    test -f \"$1\" # 👈\n    echo ok\n  }\n  check /dev/null || true\n  check nope\n  echo b",
            names: "test -f \"$1\""),
        Example(
            "a function that is called last",
            "run: |\n  main() {\n    echo start\n    grep -q x /dev/null # 👈\n  }\n  main", names: "grep -q x /dev/null"
        ),
        Example("a pipeline", "run: |\n  echo a\n  grep x /dev/null | cat # 👈\n  echo b", names: "grep x /dev/null"),
        Example(
            "a pipeline of several lines",
            "run: |\n  cat /dev/null |\n    grep 'a|b' | # 👈\n    sort\n  echo b", names: "grep 'a|b'"),
        Example(
            "a pipeline that passes its errors on", "run: |\n  echo a\n  grep x /dev/null 2>&1 | cat # 👈\n  echo b",
            names: "grep x /dev/null 2>&1"),
        Example(
            "a subshell", "run: |\n  echo a\n  (\n    cd /\n    test -f nope # 👈\n    echo x\n  )\n  echo b",
            names: "test -f nope"),
        Example("a loop", "run: |\n  for i in 1 2; do\n    test $i = 1 # 👈\n  done\n  sh -c :", names: "test $i = 1"),
        Example(
            "a condition that ends the script", "run: |\n  echo a\n  [ -f nope ] && echo y # 👈", names: "[ -f nope ]"),
        Example(
            "a command of two lines", "run: |\n  echo a\n  grep x \\ 👈\n    /dev/null\n  echo b",
            names: "grep x /dev/null"),
        Example(
            "an assignment", "run: |\n  echo a\n  x=$(grep x /dev/null) # 👈\n  echo b", names: "x=$(grep x /dev/null)"),
        Example(
            "a here-document", "run: |\n  cat <<E\n  test -f nope\n  E\n  test -f nope # 👈\n  echo b",
            names: "test -f nope"),
        Example(
            "a clean-up of its own", "run: |\n  trap 'echo bye' EXIT\n  test -f nope # 👈\n  echo b",
            names: "test -f nope"),
        Example("one command", "run: test -f nope # 👈", names: "test -f nope"),
        Example("one command of sh", "shell: sh\nrun: test -f nope # 👈", names: "test -f nope"),
        Example("a death by a signal", "run: |\n  echo a\n  sh -c 'kill -SEGV $$' # 👈", names: "sh -c 'kill -SEGV $$'"),
    ]

    @Test func `the command and its line are named`() async throws {
        var lines = ["version: 1", "steps:"]
        var places: [Int] = []
        for (index, example) in Self.examples.enumerated() {
            lines.append("  s\(index):")
            for line in example.step.split(separator: "\n", omittingEmptySubsequences: false) {
                lines.append("    \(line.replacing("# 👈", with: "").replacing("👈", with: ""))".trimmingEnd)
                if line.contains("👈") { places.append(lines.count) }
            }
        }
        let test = try FlowrunTest(lines.joined(separator: "\n") + "\n")
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        LogInvariants.check(log)
        let errors = log.all("run.finished").first?["errors"]?.array ?? []
        let text = try await test.run("workflow.yml", "--output", "none").stdout
        for (index, (example, line)) in zip(Self.examples, places).enumerated() {
            let error = errors.first { $0["step"]?.string == "s\(index)" }
            #expect(error?["command"]?.string == example.command, "\(example.name)")
            #expect(error?["command_file"]?.string == "workflow.yml", "\(example.name)")
            #expect(error?["command_line"]?.int == line, "\(example.name)")
            #expect(error?["cause"]?["line"]?.int == line, "\(example.name)")
            let wanted = " in `\(example.command)` (workflow.yml:\(line))\n"
            #expect(text.contains(wanted), "\(example.name): \(wanted)")
        }
        #expect(places.count == Self.examples.count)
    }

    @Test func `an exit of the script itself only gives its place`() async throws {
        let test = try FlowrunTest("version: 1\nsteps:\n  a:\n    run: |\n      echo a\n      [ -f nope ] || exit 3\n")
        let result = try await test.run("workflow.yml")
        result.expect(stdout: "  a: exit 3 (workflow.yml:6)\n")
        #expect(!result.stdout.contains("exit 3 in") && !result.stdout.contains("> "))
    }

    @Test func `what is longer than the summary shows stands in the file of the log`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              long: { run: "seq 100; false" }
              short: { run: "seq 10; false" }
            """)
        let result = try await test.run("workflow.yml", "-j", "2", "--output", "none", "--log-file", "log.jsonl")
        let place = "    (the last lines; all of the output is in log.jsonl)\n"
        result.expect(stdout: "long: exit 1 in `false` (workflow.yml:3)\n\(place)    | 81\n")
        result.expect(stdout: "short: exit 1 in `false` (workflow.yml:4)\n    | 1\n")
    }

    @Test func `output that was shown as it came right before the end is not shown again`() async throws {
        func count(_ text: String, in result: FlowrunResult) -> Int {
            result.stdout.split(separator: "\n").count { $0.hasSuffix(text) }
        }
        let single = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo only here; false' } }\n")
        let one = try await single.run("workflow.yml")
        one.expect(stdout: "a: exit 1 in `false` (workflow.yml:2)")
        #expect(count("only here", in: one) == 1)
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              alone: { run: "echo far above; false" }
              live: { needs: { alone: done }, log: live, run: "echo live; false" }
              last: { needs: { live: done }, run: "echo last" }
            """)
        let result = try await test.run("workflow.yml", "-j", "1")
        #expect(count("far above", in: result) == 2)
        #expect(count("[live] live", in: result) == 1)
        #expect(!result.stdout.contains("    | live"))
    }

    @Test func `a file that the script has read is named with its own line`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  a:\n    run: |\n      echo a\n      . ./lib.sh\n      echo b\n",
            files: ["lib.sh": "echo lib\ntest -f nope\n"])
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        result.expect(stdout: "a: exit 1 in `test -f nope` (./lib.sh:2)")
    }

    @Test(arguments: [
        "shell: sh\n    run: |", "run: |\n      trap 'echo trapped' ERR", "env: { BASH_ENV: /dev/null }\n    run: |",
    ])
    func `where the shell cannot tell, the script is shown`(step: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  a:\n    \(step)\n      echo start\n      test -f nope\n      echo end\n")
        let result = try await test.run("workflow.yml")
        result.expect(exit: 1)
        result.expect(stdout: "a: exit 1 (workflow.yml:3)\n")
        result.expect(stdout: "    > echo start\n    > test -f nope\n    > echo end\n")
        #expect(
            try await test.runLogged().log().all("run.finished").first?["errors"]?.array?.first?["command"] == .null)
    }

    @Test func `secrets are hidden in the command`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { TOKEN: { env: CI_TOKEN } }
            steps:
              a:
                secrets: [TOKEN]
                run: |
                  echo a
                  test -f s3cr3t-value
                  echo b
            """)
        let result = try await test.run("workflow.yml", environment: ["CI_TOKEN": "s3cr3t-value"])
        result.expect(stdout: "exit 1 in `test -f ***`")
        #expect(!result.stdout.contains("s3cr3t"))
    }

    @Test func `a script starts no process more than bash alone`() async throws {
        // The last command takes bash's place, and keeps its number.
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                run: |
                  echo $$ > first
                  sh -c 'echo $$ > last'
            """)
        let result = try await test.run("workflow.yml")
        result.expect(exit: 0)
        #expect(try test.contents(of: "first") == test.contents(of: "last"))
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
