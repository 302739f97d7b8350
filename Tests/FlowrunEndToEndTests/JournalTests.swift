import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// The journal of a run and what `runs`, `why` and `replay` make of it.
struct JournalTests {
    private static let failing = """
        version: 1
        steps:
          compile: { run: "echo compiling; echo 'a.c:3: no such type' >&2; exit 2" }
          link: { needs: [compile], run: "true" }
          long: { run: "seq 1 20000; printf 'no end \\\\377'" }
          bars: { run: "printf '1%%\\\\r2%%\\\\r3%%\\\\n'; seq 1 9000; printf 'x\\\\rdone\\\\n'" }
          fan: { matrix: { os: [a, "b c"] }, log: live, run: "echo $os" }
          again: { retry: { attempts: 2 }, run: "echo try; exit 1", continue-on-error: true }
          off: { if: "false", run: "true" }
        """

    private func journal(in test: FlowrunTest, _ folder: String = ".flowrun") throws -> [String] {
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path("\(folder)/runs"))
        return try runs.sorted().map { try test.contents(of: "\(folder)/runs/\($0)/journal.jsonl") }
    }

    private func run(in test: FlowrunTest) throws -> String {
        try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
    }

    @Test(arguments: [
        ["--log", "text"], ["--log", "json"], ["--log", "quiet"], ["--output", "stream"], ["--output", "failed"],
        ["--output", "none"], ["--color", "always"], ["--verbose"], ["--verbose", "--log", "json"],
    ])
    func `a replay is byte for byte what was shown live`(options: [String]) async throws {
        let test = try FlowrunTest(Self.failing)
        for jobs in ["1", "8"] {
            let live = try await test.start(["workflow.yml", "-j", jobs] + options).finish()
            live.expect(exit: 1)
            let replayed = try await test.startBeside(["replay"] + options).finish()
            replayed.expect(exit: 0, stderr: "")
            #expect(replayed.stdout == live.stdout)
            try FileManager.default.removeItem(atPath: test.path(".flowrun"))
        }
    }

    @Test func `a replay shows a run in another form than it was shown in`() async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml", "--log", "quiet", "--log-file", "log.jsonl").expect(exit: 1)
        let replayed = try await test.ask("replay", "--log", "json")
        #expect(replayed.stdout == (try test.contents(of: "log.jsonl")))
        let named = try await test.ask("replay", try run(in: test), "--output", "stream", "--file", "workflow.yml")
        named.expect(exit: 0, stderr: "")
        named.expect(stdout: "[compile] compiling\n")
    }

    @Test func `a long block is shown from the journal's own file, and needs no place for a copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              long: { run: "read _ < go; seq 1 90000; printf 'no end'" }
              beside: { run: "echo > go; read _ < over" }
              last: { needs: [long], run: "echo > over" }
            """)
        let gates = (try test.gate("go"), try test.gate("over"))
        defer { withExtendedLifetime(gates) {} }
        let options = ["workflow.yml", "-j", "3", "--progress", "none"]
        let live = try await test.start(options, environment: ["TMPDIR": test.path("nowhere")]).finish()
        live.expect(exit: 0, stderr: "")
        let numbers = (1...90_000).map { "| \($0)\n" }.joined() + "| no end\n"
        #expect(live.stdout.contains(numbers))
        // A replay has no place for a copy either.
        let replayed = try await test.startBeside(["replay"], environment: ["TMPDIR": test.path("nowhere")]).finish()
        replayed.expect(exit: 0, stderr: "")
        #expect(replayed.stdout == live.stdout)
    }

    @Test func `of a run that was killed everything is there up to its last moment`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              first: { run: "echo one" }
              held: { needs: [first], run: "echo two; echo $PPID > pid; echo up > up; read _ < go" }
              after: { needs: [held], run: "true" }
            """)
        let gate = try test.gate("go")
        defer { gate.open() }
        // Signs of life come by the clock, and a replay has none.
        let killed = try await test.start("workflow.yml", "--output", "stream", "--progress", "none")
        try await killed.waitForFile("up")
        try await killed.waitForText("[held] two\n")
        // The runner: the guard around it ends as it does.
        try test.signal(Int32(try test.contents(of: "pid").trimmingCharacters(in: .newlines)), SIGKILL)
        let live = try await killed.finish()
        live.expect(.signalled(SIGKILL))
        let run = try run(in: test)
        let before = try journal(in: test)
        let replayed = try await test.ask("replay", "--output", "stream")
        replayed.expect(exit: 0, stderr: "flowrun: the run `\(run)` was interrupted here: its journal has no end\n")
        #expect(replayed.stdout == live.stdout)
        try await test.ask("runs").expect(stdout: run, "interrupted")
        try await test.ask("why", "first").expect(exit: 0, stdout: "first: success\n")
        try await test.ask("why", "held").expect(exit: 0, stdout: "held: interrupted\n")
        let after = try await test.ask("why", "after")
        after.expect(exit: 1, stdout: "")
        after.expect(stderr: "had no step or group `after` before it was interrupted")
        #expect(try journal(in: test) == before)
    }

    @Test(
        .enabled(if: FaultTests.hasStrace, "strace is not installed"),
        arguments: [
            ["--log", "text"], ["--output", "stream"], ["--log", "json", "--verbose"], ["--log", "quiet"],
        ])
    func `killed at each write a run has shown nothing that a replay lacks`(options: [String]) async throws {
        var isOver = false
        var number = 1
        while !isOver {
            let test = try FlowrunTest(
                """
                version: 1
                steps:
                  a: { run: "printf 'one\\n'; printf 'no end'" }
                  b: { needs: [a], run: "printf '%s' two; exit 1", continue-on-error: true }
                """)
            let strace = [
                "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write",
                "-e", "inject=write:signal=KILL:when=\(number)",
            ]
            let all = ["workflow.yml", "--progress", "none", "--log-file", "log.jsonl"] + options
            let live = try await test.start(all, launcher: strace).finish()
            isOver = live.status == .exited(0)
            if !live.stdout.isEmpty {
                let replayed = try await test.startBeside(["replay"] + options).finish()
                #expect(replayed.stdout.hasPrefix(live.stdout), "write \(number)")
            }
            if let log = try? test.contents(of: "log.jsonl"), !log.isEmpty {
                #expect(try await test.ask("replay", "--log", "json").stdout.hasPrefix(log), "write \(number)")
            }
            number += 1
            guard number < 100 else {
                Issue.record("the run does not get through")
                return
            }
        }
        #expect(number > 5)
    }

    @Test(arguments: ["truncate -s 1T $journal", "truncate -s 1T $journal && echo >> $journal"])
    func `what a crash of the machine has put behind the records takes neither time nor memory`(
        damage: String
    ) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' }, b: { needs: [a], run: exit 1 } }\n")
        try await test.run("workflow.yml").expect(exit: 1)
        let script = "journal=.flowrun/runs/\(try run(in: test))/journal.jsonl; \(damage)"
        try await test.start([], launcher: ["sh", "-c", script]).finish().expect(exit: 0)
        let limits = ["prlimit", "--as=\(2 << 30)", "--cpu=20"]
        for (command, words) in [
            (["runs"], "interrupted"), (["replay"], "1 failure\n"), (["why", "b"], "b: failure\n"),
        ] {
            let answer = try await test.startBeside(command, launcher: limits).finish()
            answer.expect(exit: 0)
            #expect(answer.stdout.contains(words))
        }
    }

    @Test func `a live run is listed as one, and can be replayed up to now`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo up > up; read _ < go' } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml")
        try await running.waitForFile("up")
        try await test.ask("runs").expect(stdout: "  running ")
        let replayed = try await test.ask("replay", "--log", "json")
        replayed.expect(exit: 0, stderr: "flowrun: the run `\(try run(in: test))` goes on\n")
        gate.open()
        try await running.finish().expect(exit: 0)
        try await test.ask("runs").expect(stdout: "  success ", "workflow.yml  1 success\n")
    }

    @Test func `runs are listed, the last one first, of one file or of all`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: exit 1 } }\n",
            files: ["other.yml": "version: 1\nsteps: { a: { run: 'true' } }\n"])
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("other.yml").expect(exit: 0)
        let all = try await test.ask("runs")
        all.expect(exit: 0, stderr: "")
        all.expect(stdout: "success", "other.yml  1 success\n", "failure", "workflow.yml  1 failure\n")
        let one = try await test.ask("runs", "workflow.yml")
        #expect(one.stdout.split(separator: "\n").count == 1 && one.stdout.contains("failure"))
        let json = try await test.ask("runs", "--format", "json")
        let runs = try #require(try JSONDecoder().decode(JSONValue.self, from: Data(json.stdout.utf8)).array)
        #expect(runs.map { $0["state"]?.string } == ["success", "failure"])
        #expect(runs.map { $0["file"]?.string } == ["other.yml", "workflow.yml"])
        #expect(runs[1]["counts"]?["failure"]?.int == 1)
        #expect(runs[1]["path"]?.string == test.path("workflow.yml"))
    }

    @Test(arguments: ["../../victim", "..", "", "20260101T000000-aaaaaa/..", "x"])
    func `what is not the form of an id is no run`(id: String) async throws {
        let test = try FlowrunTest(Self.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        for command in [["replay", id], ["why", "--run", id, "link"]] {
            let answer = try await test.startBeside(command).finish()
            answer.expect(exit: 1, stdout: "")
            answer.expect(stderr: "is not the id of a run")
        }
        let gone = try await test.ask("replay", "20260101T000000-aaaaaa")
        gone.expect(exit: 1, stdout: "")
        gone.expect(stderr: "has no journal of the run `20260101T000000-aaaaaa`")
    }

    @Test func `a journal that cannot grow ends the run at a record's edge`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              fill: { for-each: [1, 2, 3, 4], max-parallel: 1, run: "seq 1 3000; echo >> ran" }
              never: { needs: [fill], run: "echo > never" }
            on-failure: { n: { run: "echo > never" } }
            finally: { f: { run: "echo > tidied; seq 1 3000" }, g: { needs: [f], run: "echo >> tidied" } }
            """)
        let limit = #"ulimit -f 40; exec "$0" "$@""#
        let result = try await test.run("workflow.yml", "--log", "quiet", launcher: ["bash", "-c", limit])
        result.expect(exit: 125)
        result.expect(stderr: "the journal is incomplete: file too large")
        #expect(!test.exists("never"))
        #expect(try test.contents(of: "tidied") == "\n\n")
        let journal = try #require(try journal(in: test).first)
        #expect(journal.hasSuffix("\"}\n"))
        for line in journal.split(separator: "\n") {
            _ = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        }
        try await test.ask("runs").expect(stdout: "interrupted")
    }

    @Test func `flowrun itself is named as the source where its journal cannot grow`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: seq 1 30000 }, b: { needs: [a], run: 'echo > never' } }\n")
        let limit = #"ulimit -f 40; exec "$0" "$@""#
        let result = try await test.run("workflow.yml", "--log", "json", launcher: ["bash", "-c", limit])
        result.expect(exit: 125)
        let log = try result.log()
        for event in ["run.paused", "run.resumed", "run.cancel_requested"] {
            #expect(log.all(event).map { $0["source"]?.string } == ["flowrun"])
        }
        #expect(!test.exists("never"))
    }

    @Test(arguments: [
        "mkdir -m 700 .flowrun real && ln -s ../real .flowrun/runs",
        "mkdir -m 700 .flowrun && mkdir -m 777 .flowrun/runs",
        "mkdir -m 700 .flowrun && touch .flowrun/runs",
    ])
    func `a folder of runs that must not be trusted ends flowrun before anything runs`(change: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo > ran' } }\n")
        let script = #"umask 0; \#(change) && exec "$0" "$@""#
        let result = try await test.run("workflow.yml", launcher: ["sh", "-c", script])
        result.expect(exit: 125, stdout: "")
        result.expect(stderr: "the state directory `.flowrun/runs`")
        #expect(!test.exists("ran"))
        try await test.run("workflow.yml", "--no-journal").expect(exit: 0)
    }

    @Test func `links that somebody planted in a run's folder are not followed`() async throws {
        let test = try FlowrunTest(Self.failing, files: ["precious": "keep\n"])
        try await test.run("workflow.yml").expect(exit: 1)
        let folder = ".flowrun/runs/\(try run(in: test))"
        try FileManager.default.moveItem(
            atPath: test.path("\(folder)/journal.jsonl"), toPath: test.path("stolen.jsonl"))
        try FileManager.default.createSymbolicLink(
            atPath: test.path("\(folder)/journal.jsonl"), withDestinationPath: test.path("stolen.jsonl"))
        try await test.ask("runs").expect(exit: 0, stdout: "")
        try await test.ask("replay").expect(exit: 1, stdout: "")
        try FileManager.default.moveItem(atPath: test.path(folder), toPath: test.path("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: test.path(folder), withDestinationPath: test.path("elsewhere"))
        try await test.ask("runs").expect(exit: 0, stdout: "")
    }

    @Test func `all of a run is its owner's only, and no secret stands in it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { TOKEN: { env: TOKEN } }
            steps:
              a:
                secrets: [TOKEN]
                outputs: { o: string }
                run: 'echo "o=$TOKEN" >> "$FLOWRUN_OUTPUT"; echo "got $TOKEN"; seq 1 20000; echo "$TOKEN"'
              b: { secrets: [TOKEN], run: 'exit "$TOKEN"' }
            """)
        let result = try await test.run(
            "workflow.yml", environment: ["TOKEN": "hunter2-very-secret"],
            launcher: ["sh", "-c", #"umask 0; exec "$0" "$@""#])
        result.expect(exit: 1)
        let files = try #require(FileManager.default.enumerator(atPath: test.path(".flowrun")))
        var count = 0
        for case let name as String in files {
            let path = test.path(".flowrun/\(name)")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            let mode = try #require(attributes[.posixPermissions] as? Int)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(mode & 0o077 == 0 || name == ".gitignore" || name == "CACHEDIR.TAG")
            guard !isFolder else { continue }
            count += 1
            #expect(!(try test.contents(of: ".flowrun/\(name)")).contains("hunter2"))
        }
        #expect(count >= 4)
    }

    @Test func `only the last runs of a workflow are kept`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' } }\n",
            files: ["other.yml": "version: 1\nsteps: { a: { run: 'true' } }\n"])
        try await test.run("other.yml", "--log", "quiet").expect(exit: 0)
        let script = #"for i in $(seq 40); do "$0" workflow.yml --log quiet || exit 1; done"#
        try await test.start([], launcher: ["bash", "-c", script]).finish().expect(exit: 0)
        let kept = try await test.ask("runs").stdout.split(separator: "\n")
        #expect((21...36).contains(kept.count))
        #expect(kept.count { $0.contains("other.yml") } == 1)
    }

    @Test func `a run whose hook has undone something is kept as long as what it has undone`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              release:
                steps: { deploy: { run: ":" }, verify: { needs: [deploy], run: test ! -e bad } }
                on-failure: { back: { run: ":" } }
              last: { run: test -e ok }
              other: { steps: { one: { run: ":" } }, finally: { tell: { run: ":" } } }
            """)
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 1)
        try test.write("", to: "bad")
        for _ in 1...2 { try await test.run("workflow.yml", "release", "--log", "quiet").expect(exit: 1) }
        try FileManager.default.removeItem(atPath: test.path("bad"))
        let script = #"for i in $(seq 60); do "$0" workflow.yml other --log quiet || exit 1; done"#
        try await test.start([], launcher: ["bash", "-c", script]).finish().expect(exit: 0)
        // The hook of the others starts in each of them, so that only the last has to be kept for it.
        let kept = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
        #expect((22...37).contains(kept.count))
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        let decisions = try result.log().decisions
        #expect(decisions["release.deploy"] == "undone" && decisions["release.verify"] == "undone")
    }

    @Test func `large runs of another workflow leave the last run of each one, with what that rests on`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: seq 3000000 } }\n",
            files: [
                "w.yml": """
                version: 1
                steps:
                  a: { run: echo >> ran }
                  b: { needs: [a], run: test -e good }
                """
            ])
        try await test.run("w.yml", "--log", "quiet").expect(exit: 1)
        let first = try run(in: test)
        try await test.run("w.yml", "--log", "quiet").expect(exit: 1)
        let second = try #require(
            try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first { $0 != first })
        try await test.run("w.yml", "--resume=\(second)", "b", "--log", "quiet").expect(exit: 1)
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
        #expect(try await test.ask("runs").stdout.split(separator: "\n").count == 4)
        // As large as many runs together; it takes no room on the disk.
        let enlarge = "for f in .flowrun/runs/*/a.1.*.log; do truncate -s 1100M $f; done"
        try await test.start([], launcher: ["sh", "-c", enlarge]).finish().expect(exit: 0)
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
        let runs = try await test.ask("runs", "w.yml").stdout
        #expect(runs.split(separator: "\n").count == 2 && !runs.contains(first))
        try test.write("", to: "good")
        try await test.run("w.yml", "--resume", "b", "--log", "quiet").expect(exit: 0, stderr: "")
        #expect(try test.contents(of: "ran") == "\n\n")
    }

    private static let countsFolders =
        (try? FileManager.default.attributesOfItem(atPath: NSTemporaryDirectory())[.referenceCount] as? Int)
        .map { $0 >= 2 } ?? false

    @Test(.enabled(if: countsFolders, "the file system does not count folders as links"))
    func `the folder of a run that is not kept becomes that of a later one, without what was in it`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: seq 1 9000 } }\n")
        let script = #"for i in $(seq 32); do "$0" workflow.yml --log quiet || exit 1; done"#
        try await test.start([], launcher: ["bash", "-c", script]).finish().expect(exit: 0)
        let spare = test.path(".flowrun/spare")
        let names = try FileManager.default.contentsOfDirectory(atPath: spare)
        #expect(names.sorted() == (1...12).map(String.init).sorted())
        #expect(try FileManager.default.contentsOfDirectory(atPath: spare + "/12") == ["journal.jsonl"])
        #expect(try Data(contentsOf: URL(filePath: spare + "/12/journal.jsonl")).isEmpty)
        let number = try FileManager.default.attributesOfItem(atPath: spare + "/12")[.systemFileNumber] as? Int
        try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0)
        let runs = test.path(".flowrun/runs")
        let numbers = try FileManager.default.contentsOfDirectory(atPath: runs).map { run in
            try FileManager.default.attributesOfItem(atPath: "\(runs)/\(run)")[.systemFileNumber] as? Int
        }
        #expect(numbers.contains(number))
        #expect(try await test.ask("replay").stdout.contains("success"))
    }

    @Test(arguments: [
        "ln -s ../../victim spare/1/journal.jsonl", "ln victim spare/1/journal.jsonl", "echo x > spare/1/journal.jsonl",
    ])
    func `what somebody put into a spare folder is not written to`(change: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        try await test.run("workflow.yml").expect(exit: 0)
        let script = "cd .flowrun && mkdir -p spare/1 && echo precious > victim && \(change)"
        try await test.start([], launcher: ["bash", "-c", script]).finish().expect(exit: 0)
        let refused = try await test.run("workflow.yml")
        refused.expect(exit: 125)
        refused.expect(stderr: "cannot keep a journal of the run")
        #expect(try test.contents(of: ".flowrun/victim") == "precious\n")
        try await test.run("workflow.yml").expect(exit: 0)
    }

    @Test func `a long output is in one file from its first byte, and the summary and why name it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              again: { retry: { attempts: 2 }, run: "echo $FLOWRUN_ATTEMPT; seq 1 9000; exit 3" }
              after: { needs: [again], run: "true" }
            """)
        let live = try await test.start("workflow.yml", "--log", "quiet").finish()
        let names = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs/\(try run(in: test))"))
        let file = try #require(names.filter { $0.hasPrefix("again.2.") }.first)
        let path = ".flowrun/runs/\(try run(in: test))/\(file)"
        live.expect(exit: 1)
        live.expect(stdout: "(the last lines; all of the output is in \(path))\n    | 8981\n")
        #expect(try test.contents(of: path) == (["2"] + (1...9000).map(String.init)).joined(separator: "\n") + "\n")
        for step in ["again", "after"] {
            try await test.ask("why", step).expect(stdout: "    (the last lines; all of the output is in \(path))\n")
        }
        #expect(try await test.ask("replay", "--log", "quiet").stdout == live.stdout)
    }

    @Test func `a durable run writes the journal through before a dependent starts`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'true' }, b: { needs: [a], run: 'true' } }\n")
        let trace = [
            "strace", "-f", "-s", "9999", "-o", "trace", "-e", "trace=fsync,fdatasync,write,clone,clone3,vfork",
        ]
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/strace") else { return }
        try await test.run("workflow.yml", "--durable", "--log", "quiet", launcher: trace).expect(exit: 0)
        let lines = try test.contents(of: "trace").split(separator: "\n")
        let finished = try #require(lines.firstIndex { $0.contains("step.finished") })
        let sync = try #require(lines[finished...].firstIndex { $0.contains("fdatasync(") })
        let next = lines[finished...].firstIndex { $0.contains("clone") }
        #expect(try sync < #require(next))
        try await test.run("workflow.yml", "--log", "quiet", launcher: trace).expect(exit: 0)
        #expect(!(try test.contents(of: "trace")).contains("sync("))
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a durable run writes through the way to its journal, and each file of output before a dependent starts`()
        async throws
    {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: seq 1 9000 }, b: { needs: [a], run: 'true' } }\n")
        let trace = [
            "strace", "-f", "-y", "-s", "9999", "-o", "trace", "-e",
            "trace=fsync,fdatasync,write,openat,linkat,clone,clone3,vfork",
        ]
        try await test.run("workflow.yml", "--durable", "--log", "quiet", launcher: trace).expect(exit: 0)
        let lines = try test.contents(of: "trace").split(separator: "\n").map(String.init)
        let state = test.path(".flowrun")
        let folder = "\(state)/runs/\(try run(in: test))"
        // Where the first thing of that kind is written through.
        func sync(of path: String, after start: Int = 0) throws -> Int {
            let found = lines[start...].firstIndex { line in
                // A call of another process may come between its start and its end.
                line.contains("sync(") && (line.contains("<\(path)>)") || line.contains("<\(path)> <unfinished"))
            }
            return try #require(found, "\(path)")
        }
        let linked = try #require(lines.firstIndex { $0.contains("linkat(") && $0.contains("\"key\"") })
        let started = try #require(lines.firstIndex { $0.contains("step.started") })
        #expect(try sync(of: "\(state)/key") < sync(of: state, after: linked))
        for path in ["\(state)/key", folder, "\(state)/runs", state, test.folder] {
            #expect(try sync(of: path, after: linked) < started)
        }
        let made = try #require(lines.firstIndex { $0.contains("O_EXCL") && $0.contains("a.1.") })
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let name = try #require(names.first { $0.hasSuffix(".log") })
        let finished = try #require(lines[made...].firstIndex { $0.contains("step.finished") })
        let next = try #require(lines[finished...].firstIndex { $0.contains("clone") || $0.contains("vfork") })
        #expect(try sync(of: "\(folder)/\(name)", after: made) < finished)
        #expect(try sync(of: folder, after: made) < finished)
        #expect(try sync(of: "\(folder)/journal.jsonl", after: finished) < next)
    }
}
