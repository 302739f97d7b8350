import FlowrunTestSupport
import Glibc
import Testing

/// Steps that have the terminal for themselves.
struct InteractiveTests {
    /// A shell without job control around flowrun, which tells in which state it gets the terminal back.
    private static let shell = [
        "bash", "-c",
        #""$0" "$@"; echo "status $?"; stty -a | grep -q -- " -echo " && echo "echo is off" || echo "echo is on"; "#
            + #"read -r line; echo "the shell reads $line""#,
    ]

    /// Says a word and waits, as a program that an interrupt ends at any time. bash is none: it forgets one that comes just
    /// before it starts a command or becomes one.
    private static func wait(saying word: String) -> String { "echo \(word) > said; exec tail -f said" }

    @Test func `a step reads and writes the terminal, and what others write comes behind it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              ask:
                interactive: true
                run: |
                  tty; echo up > up; until [ -e behind.up ]; do sleep 0.01; done
                  echo "name?"; read -r name; echo "hello $name"
              noise: { run: 'until [ -e up ]; do sleep 0.01; done; echo noise' }
              behind: { needs: [noise], run: echo > behind.up }
            """)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2", "--log-file", "log.jsonl"])
        let asked = try await terminal.wait(forText: "name?")
        // The block of a step that has ended, and the region, would stand here.
        #expect(!asked.text.contains { $0.contains("noise") || $0.contains(" running, ") }, "\(asked.text)")
        terminal.type("Anna\n")
        let (status, screen) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(screen.text.contains { $0.hasPrefix("/dev/pts/") })
        let hello = try #require(screen.text.firstIndex(of: "hello Anna"))
        let noise = try #require(screen.text.firstIndex(of: "| noise"))
        #expect(hello < noise)
        let log = try EventLog(jsonLines: test.contents(of: "log.jsonl"))
        #expect(log.outcomes == ["ask": "success", "noise": "success", "behind": "success"])
    }

    @Test func `the terminal is given back as it was, however the step ends`() async throws {
        for (keys, ending) in [("", "timeout: 300ms"), ("\u{3}", "")] {
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  a:
                    interactive: true
                    \(ending)
                    run: "stty -echo; \(Self.wait(saying: "ready"))"
                """)
            let terminal = try await test.startOnTerminal(["workflow.yml"], launcher: Self.shell)
            try await terminal.wait(forText: "ready")
            terminal.type(keys)
            let screen = try await terminal.wait(forText: "echo is")
            #expect(screen.text.contains("echo is on"), "\(screen.text)")
            #expect(screen.text.contains(keys.isEmpty ? "status 1" : "status 130"), "\(screen.text)")
            terminal.type("on\n")
            #expect(try await terminal.finish().screen.text.contains("the shell reads on"))
            #expect(test.survivors() == [])
        }
    }

    @Test func `when flowrun is killed, the terminal is given back as well`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { interactive: true, run: "stty -echo; kill -KILL $PPID; sleep 1000" } }
            """)
        let terminal = try await test.startOnTerminal(["workflow.yml"], launcher: Self.shell)
        let screen = try await terminal.wait(forText: "echo is")
        #expect(screen.text.contains("status 137") && screen.text.contains("echo is on"), "\(screen.text)")
        terminal.type("on\n")
        #expect(try await terminal.finish().screen.text.contains("the shell reads on"))
        #expect(test.survivors() == [])
    }

    @Test func `Ctrl-C is for the step, and ends the run only if it ends the step`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                interactive: true
                run: |
                  trap 'echo caught' INT
                  echo ready
                  # A signal that comes before the read is waiting is heard when that is over.
                  until read -r -t 1 _; do :; done
                  echo goes on
                  read -r _
              b: { needs: [a], interactive: true, run: "\(Self.wait(saying: "next"))" }
              c: { run: sleep 1000 }
            """)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "2", "--log-file", "log.jsonl"])
        try await terminal.wait(forText: "ready")
        terminal.type("\u{3}")
        try await terminal.wait(forText: "caught")
        terminal.type("\n")
        try await terminal.wait(forText: "goes on")
        terminal.type("\n")
        try await terminal.wait(forText: "next")
        terminal.type("\u{3}")
        #expect(try await terminal.finish().status == .signalled(SIGINT))
        let log = try EventLog(jsonLines: test.contents(of: "log.jsonl"))
        #expect(log.outcomes == ["a": "success", "b": "cancelled", "c": "cancelled"])
        #expect(test.survivors() == [])
    }

    @Test func `Ctrl-Z stops the step and flowrun, and fg gives the step its terminal again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { interactive: true, run: 'stty -echo; echo ready; read -r x; echo "got $x"' } }
            """)
        let script = #"""
            set -m
            "$0" workflow.yml; echo "stopped $?"
            stty -a | grep -q -- " -echo " && echo "echo is off" || echo "echo is on"
            fg > /dev/null; echo "ended $?"
            """#
        let terminal = try await test.startOnTerminal([], launcher: ["bash", "-c", script])
        try await terminal.wait(forText: "ready")
        #expect(!terminal.isEchoing)
        terminal.type("\u{1A}")
        try await terminal.wait(forText: "echo is on")
        terminal.type("more\n")
        let (_, screen) = try await terminal.finish()
        #expect(screen.text.contains("stopped 148") || screen.text.contains("stopped 147"), "\(screen.text)")
        #expect(screen.text.contains("got more") && screen.text.contains("ended 0"), "\(screen.text)")
    }

    @Test func `in the background flowrun stops until somebody brings it to the foreground`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { interactive: true, run: 'read -r x; echo \"got $x\"' } }\n")
        let script = #"set -m; "$0" workflow.yml & wait $!; echo stopped; fg > /dev/null; echo "ended $?""#
        let terminal = try await test.startOnTerminal([], launcher: ["bash", "-c", script])
        try await terminal.wait(forText: "stopped")
        terminal.type("it\n")
        let (_, screen) = try await terminal.finish()
        #expect(screen.text.contains("got it") && screen.text.contains("ended 0"), "\(screen.text)")
    }

    @Test func `one step at a time has the terminal, and no question is asked meanwhile`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                interactive: true
                run: |
                  echo > up; until [ -e behind.up ]; do sleep 0.01; done
                  echo "a begins"; read -r x; echo "a got $x"
              other: { run: "until [ -e up ]; do sleep 0.01; done" }
              asked: { needs: [other], confirm: Really?, run: echo asked runs }
              behind: { needs: [other], run: echo > behind.up }
              b: { needs: [other], interactive: true, run: 'echo "b begins"; read -r x; echo "b got $x"' }
            """)
        let terminal = try await test.startOnTerminal(["workflow.yml", "-j", "3"])
        for (text, answer) in [("a begins", "1"), ("Really? [y/N]", "y"), ("b begins", "2")] {
            try await terminal.wait(forText: text)
            terminal.type("\(answer)\n")
        }
        let (status, screen) = try await terminal.finish()
        #expect(status == .exited(0))
        let words = ["a begins", "a got 1", "asked: Really? [y/N]", "b begins", "b got 2"]
        let text = screen.text.compactMap { line in words.first { line.hasSuffix($0) } }
        #expect(text == words, "\(screen.text)")
    }

    @Test func `a process that the step leaves behind does not keep the terminal`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { interactive: true, run: "sleep 1000 & echo ready" }
              b: { needs: [a], interactive: true, run: 'read -r x; echo "got $x"' }
            """)
        let terminal = try await test.startOnTerminal(["workflow.yml", "--log-file", "log.jsonl"])
        try await terminal.wait(forText: "ready")
        terminal.type("it\n")
        let (status, screen) = try await terminal.finish()
        #expect(status == .exited(0))
        #expect(screen.text.contains("got it"))
        #expect(try EventLog(jsonLines: test.contents(of: "log.jsonl")).finished("a")?["left_behind"]?.int == 1)
        #expect(test.survivors() == [])
    }

    @Test func `without a terminal the step fails and says what it needs`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { interactive: true, run: echo never }
              b: { needs: [a], run: echo never }
            """)
        let result = try await test.start(
            ["workflow.yml", "--log", "json"], launcher: ["setsid", "--wait"]
        ).finish()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes == ["a": "failure", "b": "not-run"])
        let message = try #require(log.finished("a")?["cause"]?["message"]?.string)
        #expect(message.hasPrefix("needs a terminal, and flowrun was started without one"))
    }
}
