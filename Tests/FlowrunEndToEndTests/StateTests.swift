import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// The state directory, and one run at a time of a workflow file.
struct StateTests {
    private static let held = "version: 1\nsteps: { a: { run: 'echo up > up; read _ < go' } }\n"
    private static let good = "version: 1\nsteps: { a: { run: 'true' } }\n"

    private func mode(of path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func sockets(in test: FlowrunTest, _ folder: String = ".flowrun") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: test.path(folder)).filter { $0.hasSuffix(".sock") }
    }

    @Test func `all state is its owner's only, and a run leaves no socket`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", launcher: ["sh", "-c", #"umask 0; exec "$0" "$@""#])
        try await running.waitForFile("up")
        try await test.ask("ctl", "status").expect(exit: 0)
        let sockets = try sockets(in: test)
        #expect(sockets.count == 1)
        #expect(try mode(of: test.path(".flowrun")) == 0o700)
        for name in sockets + ["workflow.yml.lock"] { #expect(try mode(of: test.path(".flowrun/\(name)")) == 0o600) }
        gate.open()
        try await running.finish().expect(exit: 0)
        #expect(try self.sockets(in: test) == [])
        try test.write("version: 1\nsteps: { a: { run: exit 1 } }\n", to: "bad.yml")
        try await test.run("bad.yml", launcher: ["sh", "-c", #"umask 0; exec "$0" "$@""#]).expect(exit: 1)
        #expect(try test.contents(of: ".flowrun/.gitignore") == "*\n")
    }

    @Test func `a run makes no socket in its first 50 ms, unless it is paused`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'ls .flowrun > files' } }\n")
        let log = try await test.runLogged().log()
        // On a busy machine the step may be later than that.
        let time = try #require(log.finished("a")?["t"]?.double)
        #expect(try time >= 0.05 || !test.contents(of: "files").contains(".sock"))
        let paused = try await test.start("workflow.yml", "--paused", "--log", "json")
        try await paused.waitForEvent("run.paused")
        #expect(try sockets(in: test).count == 1)
        try await test.ask("ctl", "resume").expect(exit: 0)
        try await paused.finish().expect(exit: 0)
        #expect(try test.contents(of: "files").contains(".sock"))
    }

    // A9
    @Test func `with --no-wait a second run of the same step exits 75 and names the first`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let first = try await test.start("workflow.yml", "--log", "json")
        try await first.waitForFile("up")
        let run = try #require(try await first.waitForEvent("run.started")["run"]?.string)
        let second = try await test.ask("run", "workflow.yml", "--no-wait", "--log-file", "untouched.jsonl")
        second.expect(exit: 75, stdout: "")
        second.expect(
            stderr: "cannot wait for the run \(run) (process \(first.pid)), which has `a`: --no-wait")
        #expect(!test.exists("untouched.jsonl"))
        gate.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `the default state directory is the same one where it is asked for`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        // It does not exist yet when the first run looks for it.
        let first = try await test.start("workflow.yml", "--state-dir", ".flowrun")
        try await first.waitForFile("up")
        for options in [[], ["--state-dir", ".flowrun"], ["--state-dir", test.path(".flowrun/")]] {
            try await test.startBeside(["run", "workflow.yml", "--no-wait"] + options).finish()
                .expect(exit: 75)
            let status = ["ctl", "--file", "workflow.yml"] + options + ["status"]
            try await test.startBeside(status).finish().expect(exit: 0)
        }
        gate.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `a first step may remove the state folder`() async throws {
        for _ in 0..<20 {
            let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'rm -rf .flowrun' } }\n")
            try await test.run("workflow.yml", "--log", "quiet").expect(exit: 0, stderr: "")
        }
    }

    @Test func `two files side by side run at the same time, also one inside a step of the other`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: '\"$FLOWRUN\" other.yml' } }\n", files: ["other.yml": Self.good])
        try await test.run("workflow.yml", environment: ["FLOWRUN": FlowrunBinary.path]).expect(exit: 0)
    }

    @Test func `a workflow that runs itself is told so instead of waiting for ever`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: '\"$FLOWRUN\" workflow.yml' } }\n")
        let result = try await test.run("workflow.yml", environment: ["FLOWRUN": FlowrunBinary.path])
        result.expect(exit: 1)
        result.expect(stdout: "`a` is in use by the run", "exit 75")
    }

    @Test func `any number of workflows from standard input run at once`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        defer { gate.open() }
        let first = try await test.start("-", stdin: .text(Self.held))
        try await first.waitForFile("up")
        try await test.ask("run", "-", stdin: .text(Self.good)).expect(exit: 0)
        gate.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `of fifty starts at once that do not wait one wins`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo up >> ups; read _ < go' } }\n")
        let gate = try test.gate("go")
        defer { gate.open() }
        // The losers write their statuses to `ends`; when all but one have, the winner may go.
        let script = #"""
            for i in $(seq 50); do ("$0" workflow.yml --no-wait --log quiet 2> /dev/null; echo $? >> ends) & done
            wait
            """#
        let running = try await test.start([], launcher: ["bash", "-c", script])
        let losers = try await running.waitForLines(in: "ends", 49)
        #expect(losers.allSatisfy { $0 == "75" })
        try await running.waitForLines(in: "ups")
        gate.open()
        try await running.finish().expect(exit: 0)
        #expect(try test.contents(of: "ups") == "up\n")
        #expect(try test.contents(of: "ends") == String(repeating: "75\n", count: 49) + "0\n")
    }

    @Test func `a file system without locks is never taken for a free one`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo > ran' } }\n")
        let result = try await test.run(
            "workflow.yml",
            launcher: ["strace", "-f", "-o", "trace", "-e", "trace=flock", "-e", "inject=flock:error=ENOLCK"])
        result.expect(exit: 125, stdout: "")
        result.expect(stderr: "cannot lock `workflow.yml`: no locks available")
        #expect(!test.exists("ran"))
    }

    @Test(arguments: ["ln workflow.yml other.yml", "ln -s workflow.yml other.yml", "ln workflow.yml dir/other.yml"])
    func `links of one file exclude each other`(link: String) async throws {
        let test = try FlowrunTest(Self.held, files: ["dir/x": ""])
        let gate = try test.gate("go")
        defer { gate.open() }
        let running = try await test.start("workflow.yml", launcher: ["sh", "-c", #"\#(link); exec "$0" "$@""#])
        try await running.waitForFile("up")
        let other = try await test.ask("run", "--no-wait", test.exists("other.yml") ? "other.yml" : "dir/other.yml")
        other.expect(exit: 75, stdout: "")
        other.expect(stderr: link.contains("-s") ? "which has `a`" : "is being run under another name")
        // Another state directory is no way around it either.
        let elsewhere = try await test.ask("run", "--no-wait", "workflow.yml", "--state-dir", "elsewhere")
        elsewhere.expect(exit: 75, stdout: "")
        elsewhere.expect(
            stderr: "`workflow.yml` is being run under another name or with another state directory (process ")
        gate.open()
        try await running.finish().expect(exit: 0)
    }

    @Test func `whoever locks the file for flowrun may go on doing so`() async throws {
        let test = try FlowrunTest(Self.good)
        let flock = ["flock", "workflow.yml"]
        try await test.run("workflow.yml", "--log", "quiet", launcher: flock).expect(exit: 0, stderr: "")
        // Held by somebody else it is held.
        let script = #"exec 9< workflow.yml; flock 9; "$0" "$@" 9<&-"#
        try await test.run("workflow.yml", "--no-wait", launcher: ["bash", "-c", script]).expect(exit: 75)
    }

    // F44
    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `with --no-wait a lock that no flowrun has is not waited for`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        // The lock names this run from here on, and it is over.
        try await test.run("workflow.yml").expect(exit: 0)
        let gate = try test.gate("go")
        defer { gate.open() }
        let holder = try await test.start(
            [], launcher: ["flock", "workflow.yml", "sh", "-c", "echo up > up; read _ < go"])
        try await holder.waitForFile("up")
        let result = try await test.startBeside(
            ["workflow.yml", "--no-wait"], launcher: ["strace", "-f", "-o", "trace", "-e", "trace=clock_nanosleep"]
        ).finish()
        result.expect(exit: 75)
        let waits = try test.contents(of: "trace").split(separator: "\n").count { $0.contains("clock_nanosleep(") }
        #expect(waits < 10)
        gate.open()
        try await holder.finish().expect(exit: 0)
    }

    @Test func `a lock file that names something outside of the folder touches nothing there`() async throws {
        let test = try FlowrunTest(Self.good)
        let script = #"""
            mkdir -m 700 .flowrun && echo precious > victim.sock
            echo "1 ../victim" > .flowrun/workflow.yml.lock
            exec "$0" "$@"
            """#
        try await test.run("workflow.yml", launcher: ["sh", "-c", script]).expect(exit: 0)
        #expect(try test.contents(of: "victim.sock") == "precious\n")
    }

    @Test func `after a kill the next run starts, and takes the dead one's socket away`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        let first = try await test.start("workflow.yml")
        try await first.waitForFile("up")
        try await test.ask("ctl", "status").expect(exit: 0)
        try test.signal(first.runner, SIGKILL)
        try await first.finish().expect(.signalled(SIGKILL))
        #expect(try sockets(in: test).count == 1)
        try await test.ask("ctl", "status").expect(exit: 1, stdout: "")
        gate.open()
        try await test.run("workflow.yml").expect(exit: 0)
        #expect(try sockets(in: test) == [])
    }

    // F43
    @Test func `after a kill of the process that was started the next run starts at once`() async throws {
        let test = try FlowrunTest(Self.held)
        let gate = try test.gate("go")
        for _ in 0..<5 {
            let first = try await test.start("workflow.yml")
            try await first.waitForFile("up")
            first.signal(SIGKILL)
            try await first.finish().expect(.signalled(SIGKILL))
            try FileManager.default.removeItem(atPath: test.path("up"))
        }
        let last = try await test.start("workflow.yml")
        try await last.waitForFile("up")
        // Not before: a step of the killed run may live until the lock is free, and would take the line.
        gate.open()
        try await last.finish().expect(exit: 0)
    }

    @Test func `a state directory of one's own is shared by files of one name`() async throws {
        let test = try FlowrunTest(files: ["a/w.yml": Self.held, "b/w.yml": Self.good])
        let gate = try test.gate("a/go")
        defer { gate.open() }
        let first = try await test.start("a/w.yml", "--state-dir", "deep/state", "--log", "json")
        try await first.waitForEvent("step.started")
        try await test.ask("run", "b/w.yml", "--state-dir", "deep/state").expect(exit: 0)
        try await test.ask("run", "--no-wait", "a/w.yml", "--state-dir", "deep/state").expect(exit: 75)
        try await test.ask("ctl", "--state-dir", "deep/state", "status").expect(exit: 0)
        #expect(!test.exists("a/.flowrun"))
        gate.open()
        try await first.finish().expect(exit: 0)
    }

    @Test func `a path much longer than a socket's address may be is no obstacle`() async throws {
        let folder = (0..<12).map { _ in String(repeating: "long", count: 10) }.joined(separator: "/")
        let test = try FlowrunTest(files: ["\(folder)/w.yml": Self.held])
        let gate = try test.gate("\(folder)/go")
        defer { gate.open() }
        let running = try await test.start("\(folder)/w.yml", "--log", "json")
        try await running.waitForEvent("step.started")
        try await test.ask("ctl", "--file", "\(folder)/w.yml", "cancel").expect(exit: 0, stdout: "cancelling the run\n")
        try await running.finish().expect(exit: 130)
    }

    @Test(arguments: ["chmod 770 .flowrun", "rmdir .flowrun && mkdir real && ln -s real .flowrun"])
    func `a state directory that must not be trusted ends flowrun before anything runs`(change: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo > ran' } }\n")
        let script = #"mkdir .flowrun && \#(change) && exec "$0" "$@""#
        let result = try await test.run("workflow.yml", launcher: ["sh", "-c", script])
        result.expect(exit: 125, stdout: "")
        result.expect(stderr: "the state directory `.flowrun`")
        #expect(!test.exists("ran"))
    }

    @Test(.enabled(if: geteuid() == 0, "needs to be root to give a folder away"))
    func `somebody else's state directory ends flowrun before anything runs`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo > ran' } }\n")
        let script = #"mkdir .flowrun && chown 12345 .flowrun && exec "$0" "$@""#
        let result = try await test.run("workflow.yml", launcher: ["sh", "-c", script])
        result.expect(exit: 125, stdout: "")
        result.expect(stderr: "belongs to another user (uid 12345)")
        #expect(!test.exists("ran"))
    }

    @Test func `where the folder cannot be written, state goes to the user's own`() async throws {
        // A file in the folder's place cannot be written by root either.
        let test = try FlowrunTest(Self.good)
        let script = #"cd /proc/self && exec "$0" "$@""#
        let result = try await test.run(
            test.path("workflow.yml"), "--log", "quiet", environment: ["XDG_STATE_HOME": test.path("own")])
        result.expect(exit: 0, stderr: "")
        #expect(test.exists(".flowrun") && !test.exists("own"))
        let stdin = try await test.run(
            "-", "--log", "quiet", environment: ["XDG_STATE_HOME": test.path("own")],
            stdin: .text(Self.good), launcher: ["sh", "-c", script])
        stdin.expect(exit: 0, stderr: "")
        let folders = try FileManager.default.contentsOfDirectory(atPath: test.path("own/flowrun"))
        #expect(folders.count == 1)
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path("own/flowrun/\(folders[0])/runs"))
        #expect(runs.count == 1)
    }

    @Test func `without any place for state a run goes on, but does not wait for somebody who cannot come`()
        async throws
    {
        let test = try FlowrunTest(Self.good)
        let script = #"cd /proc/self && exec "$0" "$@""#
        let nowhere: [String: String?] = ["XDG_STATE_HOME": "/proc/self/none"]
        for (options, status) in [([], 0), (["--paused"], 125)] as [([String], Int32)] {
            let result = try await test.start(
                ["run", "-", "--log", "quiet"] + options, environment: nowhere,
                stdin: .text(Self.good), launcher: ["sh", "-c", script]
            ).finish()
            result.expect(exit: status)
            result.expect(stderr: "cannot use the state directory `.flowrun`")
        }
    }

    @Test(arguments: ["--resume=20260101T000000-aaaaaa", "--durable"])
    func `without any place for state nothing runs that was asked to rest on it or to leave it`(option: String)
        async throws
    {
        let test = try FlowrunTest()
        let script = #"cd /proc/self && exec "$0" "$@""#
        let nowhere: [String: String?] = ["XDG_STATE_HOME": "/proc/self/none"]
        let text = "version: 1\nsteps: { a: { run: 'echo > \(test.path("ran"))' } }\n"
        for (options, status) in [([option], 125), (["--resume"], 0)] as [([String], Int32)] {
            let result = try await test.start(
                ["run", "-", "--log", "quiet"] + options, environment: nowhere, stdin: .text(text),
                launcher: ["sh", "-c", script]
            ).finish()
            result.expect(exit: status, stdout: "")
            result.expect(stderr: "cannot use the state directory `.flowrun`: ")
            guard status == 125 else { continue }
            result.expect(stderr: "; \(option) needs one: name a folder that can be written with --state-dir")
            #expect(!test.exists("ran"))
        }
    }

    @Test func `no journal is kept with --no-journal`() async throws {
        let test = try FlowrunTest(Self.good)
        try await test.run("workflow.yml", "--no-journal").expect(exit: 0)
        try test.write("version: 1\nsteps: { a: { run: exit 1 } }\n", to: "workflow.yml")
        try await test.run("workflow.yml", "--no-journal").expect(exit: 1)
        #expect(test.exists(".flowrun/workflow.yml.lock"))
        #expect(!test.exists(".flowrun/runs"))
        let answer = try await test.ask("why", "a")
        answer.expect(exit: 1, stdout: "")
        answer.expect(stderr: "has no journal of a run")
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("workflow.yml", "--no-journal").expect(exit: 1)
        let why = try await test.ask("why", "a")
        why.expect(stderr: "left no journal, as with --no-journal; for the one before, write `--run ")
        let replay = try await test.ask("replay")
        replay.expect(exit: 1, stdout: "")
        let before = try #require(try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs")).first)
        replay.expect(stderr: "for the one before, write `flowrun replay \(before)`")
        try await test.ask("replay", before).expect(exit: 0)
    }

    @Test(arguments: ["--resume=garbage", "--log-file=none/log", "--log-file=.flowrun/key"])
    func `a run that is refused is not the last one`(option: String) async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: exit 3 } }\n")
        #expect(try await test.run("workflow.yml", option).stdout.isEmpty)
        try await test.ask("why", "a").expect(stderr: "has no journal of a run")
        try await test.run("workflow.yml").expect(exit: 1)
        #expect(try await test.run("workflow.yml", option).stdout.isEmpty)
        try await test.ask("why", "a").expect(stdout: "exit 3")
        try await test.ask("replay").expect(stdout: "exit 3")
    }

    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a key that cannot be read once stays as it is`() async throws {
        let test = try FlowrunTest(Self.good)
        try await test.run("workflow.yml").expect(exit: 0)
        let key = test.path(".flowrun/key")
        let before = try #require(FileManager.default.contents(atPath: key))
        let launcher = [
            "strace", "-f", "-o", "trace", "-P", key, "-e", "trace=read", "-e", "inject=read:error=EIO:when=1",
        ]
        try await test.run("workflow.yml", launcher: launcher).expect(exit: 0)
        #expect(try test.contents(of: "trace").contains("(INJECTED)"))
        #expect(FileManager.default.contents(atPath: key) == before)
        // The run is the last one all the same.
        let runs = try FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/runs"))
        #expect(runs.count == 2)
        try await test.run("workflow.yml", "--resume", "--log", "quiet").expect(exit: 0, stderr: "")
    }

    @Test func `asking changes nothing`() async throws {
        let test = try FlowrunTest(Self.held)
        try await test.ask("ctl", "status").expect(exit: 1)
        try await test.ask("why", "a").expect(exit: 1)
        try await test.run("check", "workflow.yml").expect(exit: 0)
        try await test.run("plan", "workflow.yml").expect(exit: 0)
        #expect(!test.exists(".flowrun"))
    }
}
