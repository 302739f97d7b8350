import FlowrunTestSupport
import Glibc
import Testing

/// The program on a terminal.
struct TerminalTests {
    private static let workflow = """
        version: 1
        steps:
          build: { name: Compile everything, run: "echo CC main.c; echo LD main; echo up > build.up; read _ < build.go" }
          test: { run: "echo up > test.up; read _ < test.go" }
          pack: { needs: [build, test], run: echo packed }
        """

    private static func isDrawn(_ screen: TerminalScreen) -> Bool {
        screen.lines.contains { $0.contains(" running, ") }
    }

    private func gates(_ test: FlowrunTest) throws -> [Gate] { [try test.gate("build.go"), try test.gate("test.go")] }

    @Test(arguments: [(80, 24), (200, 50)])
    func `a live region shows what runs and what it wrote last, and goes without a trace`(
        columns: Int, rows: Int
    ) async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try gates(test)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2"], columns: columns, rows: rows)
        let screen = try await terminal.wait(for: "the last line of build") { screen in
            screen.lines.contains { $0.hasSuffix("s  build (Compile everything)  LD main") }
        }
        #expect(screen.text.count == 5)
        #expect(screen.text[0].hasSuffix("workflow.yml, 3 steps, up to 2 at once"))
        #expect(screen.text[1] == "")
        #expect(screen.text[2].hasPrefix("[0/3] 2 running, 1 waiting  "))
        #expect(screen.text[4].hasSuffix("s  test"))
        gates.forEach { $0.open() }
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(end.text.count == 9)
        #expect(end.text.last?.contains("3 success") == true)
        #expect(end.text.contains { $0.hasSuffix("  build (Compile everything)") })
        #expect(end.text.filter { $0 == "| LD main" }.count == 1)
        #expect(!Self.isDrawn(end))
    }

    @Test func `on a terminal a run without success ends with the commands that tell more and go on`() async throws {
        let text = "version: 1\nsteps: { a: { run: exit 3 }, b: { run: 'true' } }\n"
        let test = try FlowrunTest(files: ["flowrun.yml": text, "other.yml": text])
        func lastLine(_ words: [String]) async throws -> String? {
            try await test.startOnTerminal(words, columns: 160).finish().screen.text.last
        }
        #expect(try await lastLine([]) == "`flowrun why a` tells more, `flowrun --resume` goes on from here")
        #expect(
            try await lastLine(["-f", "other.yml", "a", "--resume"])
                == "`flowrun why -f other.yml a` tells more, `flowrun --resume -f other.yml a` goes on from here")
        #expect(try await lastLine(["b"])?.contains("1 success") == true)
        #expect(try await lastLine(["--no-journal"])?.contains("1 failure") == true)
        #expect(!(try await test.run().stdout.contains("goes on from here")))
    }

    @Test func `the region says how much time is left if the steps take as long as before`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              gate: { run: "test ! -e first || { echo up > up; read _ < go; }" }
              long: { needs: [gate], run: "test -e first || sleep 2.1" }
            """)
        try await test.run("workflow.yml").expect(exit: 0)
        try test.write("", to: "first")
        let gate = try test.gate("go")
        let terminal = try await test.startOnTerminal(["workflow.yml"])
        // However late that is: the step at the gate has done all that it did before.
        let screen = try await terminal.wait(for: "the time that is left") {
            $0.lines.contains { $0.contains(" left") }
        }
        let line = try #require(screen.lines.first { $0.contains(" left") })
        #expect(line.hasPrefix("[0/2] 1 running, 1 waiting  "))
        #expect(try #require(line.firstMatch(of: /s, about (\d+)s left$/)?.1).first != "0")
        gate.open()
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(!Self.isDrawn(end))
    }

    @Test func `it follows the size of the terminal`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try gates(test)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2"])
        try await terminal.wait(for: "the region") { $0.lines.contains { $0.contains("LD main") } }
        for (columns, rows) in [(200, 50), (30, 8), (20, 3), (80, 24)] {
            terminal.resize(columns: columns, rows: rows)
            try await terminal.wait(for: "the region at \(columns)x\(rows)") { screen in
                screen.lines.contains { $0.hasPrefix("[0/3]") }
                    && screen.lines.contains { $0.contains("LD main") } == (columns >= 80)
                    && screen.lines.allSatisfy { $0.count < columns || !$0.hasPrefix(" ") }
            }
        }
        gates.forEach { $0.open() }
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(!Self.isDrawn(end))
    }

    @Test func `a step that runs alone writes straight through, and the region does not repeat it`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'echo first line; echo up > up; read _ < go; echo last' } }\n")
        let gate = try test.gate("go")
        let terminal = try await test.startOnTerminal(["workflow.yml"])
        let screen = try await terminal.wait(for: "the line and the region") { screen in
            screen.text.contains("| first line") && Self.isDrawn(screen)
        }
        #expect(screen.text.filter { $0.contains("first line") }.count == 1)
        #expect(screen.text.last?.hasSuffix("s  a") == true)
        gate.open()
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(end.text.filter { $0.contains("first line") }.count == 1)
    }

    @Test func `a line that a step redraws is in its row, and its secrets are not`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            secrets: { TOKEN: { env: TOKEN } }
            steps:
              bar: { secrets: [TOKEN], run: "printf '\\r 41%%'; printf '\\r 42%% %s \\r' \"$TOKEN\"; read _ < go; echo" }
            """#)
        let gate = try test.gate("go")
        let terminal = try await test.startOnTerminal(["workflow.yml"], environment: ["TOKEN": "hush-hush"])
        try await terminal.wait(for: "the bar") { $0.text.last?.hasSuffix("s  bar   42% ***") == true }
        gate.open()
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(end.text.filter { $0.contains("42% ***") }.count == 1 && !end.text.joined().contains("hush"))
    }

    @Test(arguments: [
        ("under make", #"printf 'all:\n\t@"%s" workflow.yml -j 2\n' "$0" > Makefile; exec make -j4"#),
        ("behind a pipe", #""$0" workflow.yml -j 2 | cat"#),
        ("in the background", #"set -m; "$0" workflow.yml -j 2 & wait"#),
        ("on a dumb terminal", #"TERM=dumb exec "$0" workflow.yml -j 2"#),
        ("in CI", #"CI=true exec "$0" workflow.yml -j 2"#),
        ("when it is not wanted", #"exec "$0" workflow.yml -j 2 --progress plain"#),
    ])
    func `nothing is drawn`(situation: String, script: String) async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try gates(test)
        let terminal = try await test.startOnTerminal([], launcher: ["bash", "-c", script])
        try await terminal.wait(forText: "3 steps")
        gates.forEach { $0.open() }
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(end.text.contains { $0.contains("3 success") })
        for sequence in ["\u{1B}D", "\u{1B}7", "\u{1B}[J", "[0/3]"] {
            #expect(!terminal.written.contains(sequence), "\(situation)")
        }
    }

    @Test func `NO_COLOR takes the colours and leaves the region`() async throws {
        let test = try FlowrunTest(Self.workflow)
        let gates = try gates(test)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2"], environment: ["NO_COLOR": "1"])
        try await terminal.wait(for: "the region", Self.isDrawn)
        gates.forEach { $0.open() }
        #expect(try await terminal.finish().status == .exited(0))
        #expect(!terminal.written.contains("\u{1B}[32m") && !terminal.written.contains("\u{1B}[2m"))
    }

    /// Lines, halves of lines, and lines as long as the terminal is wide, in bursts with pauses for drawing.
    private static let sibling = """
        for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
            for n in 1 2 3 4 5; do echo "<$round.$n>"; done
            printf "<$round"; sleep 0.04; printf ".6>\\n"
        done
        touch sibling.done
        """

    // A region that is asked for is drawn even where others write, and takes nothing of theirs away.
    @Test(arguments: 0..<10)
    func `no line of a sibling under make is lost where the region is forced`(run: Int) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              many: { for-each: [1, 2, 3, 4, 5, 6], run: "until [ -e sibling.done ]; do echo line; sleep 0.02; done" }
              short: { for-each: [1, 2, 3, 4, 5, 6, 7, 8], run: sleep 0.03 }
            """,
            files: [
                "sibling": Self.sibling,
                "Makefile": """
                all: run sibling
                run: ; @"$(FLOWRUN)" workflow.yml -j 4 --progress live
                sibling: ; @sh ./sibling
                .PHONY: all run sibling
                """,
            ])
        let terminal = try await test.startOnTerminal(
            [], launcher: ["sh", "-c", #"exec make -j4 FLOWRUN="$0""#], rows: run.isMultiple(of: 2) ? 24 : 8)
        let (status, end) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(terminal.written.contains("\u{1B}7"), "the region was never drawn")
        let wanted = (1...12).flatMap { round in (1...6).map { "<\(round).\($0)>" } }
        // Half a line of the sibling may be followed by a line of the log, as where both write without a region.
        let text = end.text.joined(separator: "\n")
        let missing = wanted.filter { line in
            !text.contains(line) && !(line.hasSuffix(".6>") && text.contains(line.dropLast(3)) && text.contains(".6>"))
        }
        #expect(missing == [], "\(text)")
        #expect(end.text.count { $0.contains("  success  ") } == 14)
        #expect(!Self.isDrawn(end) || end.text.last?.contains("14 success") == true)
    }

    @Test func `Ctrl-C says what is stopped and for how long, and a second one kills at once`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { grace: 1000s }
            steps:
              deaf: { run: "trap '' TERM; echo up > build.up; read _ < build.go" }
              mute: { run: "trap '' TERM; echo up > test.up; read _ < test.go", grace: 5s }
            finally:
              tidy: { run: "trap '' TERM; echo tidy; echo up > tidy.up; read _ < tidy.go" }
            """)
        let gates = try gates(test) + [test.gate("tidy.go")]
        defer { gates.forEach { $0.open() } }
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2"], columns: 200)
        try await terminal.wait(for: "the region") { $0.lines.contains { $0.contains("2 running") } }
        terminal.type("\u{3}")
        try await terminal.wait(
            forText:
                "the run  interrupted by SIGINT: deaf, mute have 16m40s to end, a second Ctrl-C kills them and skips `finally`"
        )
        try await terminal.wait(for: "the region") { $0.lines.contains { $0.contains("stopping, ") } }
        terminal.type("\u{3}")
        let (status, _) = try await terminal.finish()
        #expect(status == .signalled(SIGINT))
        #expect(test.survivors() == [])
    }

    @Test func `Ctrl-C is answered on the terminal also where the log goes elsewhere`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo up > up; read _ < go' } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let terminal = try await test.startOnTerminal(
            ["workflow.yml"], launcher: ["sh", "-c", #"exec "$0" "$@" > log"#])
        try await terminal.wait(for: "the region", Self.isDrawn)
        terminal.type("\u{3}")
        let (status, end) = try await terminal.finish()
        #expect(status == .signalled(SIGINT))
        #expect(
            end.text.contains {
                $0.hasSuffix("flowrun: interrupted by SIGINT: a has 10s to end, a second Ctrl-C kills it")
            })
        #expect(!Self.isDrawn(end))
    }
}
