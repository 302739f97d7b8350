import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// flowrun and the jobs of make: as a part of one around it, and as the one around those in its steps.
struct JobserverTests {
    private static let hasMake = FileManager.default.isExecutableFile(atPath: "/usr/bin/make")

    /// A Makefile whose recipes are runs of steps that call make on `sub`, whose recipes are the leaves.
    private static func project(recipe: String = "+@flowrun -f flowrun.yml $@") throws -> FlowrunTest {
        let steps = ["a", "b", "c"].map {
            "  \($0): { for-each: [1, 2, 3], jobserver: true, run: \"make -s -C sub\" }\n"
        }
        return try FlowrunTest(files: [
            "Makefile": "all: a b c\na b c:\n\t\(recipe)\n",
            "sub/Makefile": """
            LEAVES = l1 l2 l3 l4
            all: $(LEAVES)
            $(LEAVES):
            \t@echo + >> $(LOG); sleep 0.05; echo - >> $(LOG)

            """,
            "flowrun.yml": "version: 1\nsteps:\n" + steps.joined(),
        ])
    }

    private func environment(_ test: FlowrunTest, _ more: [String: String?] = [:]) -> [String: String?] {
        let path = URL(filePath: FlowrunBinary.path).deletingLastPathComponent().path
        return ["LOG": test.path("log"), "PATH": "\(path):/usr/bin:/bin", "MAKEFLAGS": nil, "MFLAGS": nil].merging(more)
        {
            $1
        }
    }

    private func make(_ words: [String], in test: FlowrunTest) async throws -> FlowrunResult {
        try await test.start(
            words, environment: environment(test), launcher: ["/bin/sh", "-c", #"shift; exec make "$@""#, "sh"]
        )
        .finish()
    }

    /// The most leaves that were between their two lines at once.
    private func peak(in test: FlowrunTest) throws -> (most: Int, count: Int) {
        var (running, most, count) = (0, 0, 0)
        for line in try test.contents(of: "log").split(separator: "\n") {
            running += line == "+" ? 1 : -1
            (most, count) = (max(most, running), count + (line == "+" ? 1 : 0))
        }
        return (most, count)
    }

    @Test(.enabled(if: hasMake, "make is not installed"), arguments: [2, 4])
    func `all leaves of all runs in one make are never more than its jobs`(jobs: Int) async throws {
        let test = try Self.project()
        let result = try await make(["-j\(jobs)"], in: test)
        result.expect(exit: 0)
        #expect(!result.stderr.contains("INTERNAL") && !result.stderr.contains("jobserver"))
        let peak = try peak(in: test)
        #expect(peak.count == 36 && peak.most <= jobs && peak.most > 1)
    }

    @Test(.enabled(if: hasMake, "make is not installed"), arguments: ["runner", "guard", "both"])
    func `make gets back all tokens of a run that is killed`(victim: String) async throws {
        let test = try Self.project(
            recipe: "+@flowrun -f flowrun.yml $@ & echo $$! >> pids; wait $$!")
        let running = try await test.start(
            ["-k", "-j4"], environment: environment(test), launcher: ["/bin/sh", "-c", #"shift; exec make "$@""#, "sh"])
        _ = try await running.waitForLines(in: "log", 6)
        let first = try #require(try await running.waitForLines(in: "pids", 1).first.flatMap { Int32($0) })
        let children = try String(contentsOfFile: "/proc/\(first)/task/\(first)/children", encoding: .utf8)
        let runner = children.split(separator: " ").compactMap { Int32($0) }.first
        if victim != "runner" { try test.signal(first, SIGKILL) }
        if victim != "guard", let runner { try test.signal(runner, SIGKILL) }
        let result = try await running.finish()
        #expect(result.status == .exited(2))
        #expect(!result.stderr.contains("INTERNAL"), "\(result.stderr)")
    }

    @Test(.enabled(if: hasMake, "make is not installed"))
    func `without a plus sign the recipe has no jobserver, and one step runs at a time`() async throws {
        let test = try Self.project(recipe: "@flowrun -f flowrun.yml $@")
        let result = try await make(["-j2", "a"], in: test)
        result.expect(exit: 0)
        result.expect(stderr: "flowrun: cannot open the jobserver of make", "begin the recipe line with `+`")
        #expect(try peak(in: test).most == 1)
    }

    @Test(.enabled(if: hasMake, "make is not installed"))
    func `make -k lets the rest go on, and make -s makes flowrun quiet`() async throws {
        let test = try FlowrunTest(files: [
            "Makefile": "all:\n\t+@flowrun -f w.yml -j 1\n",
            "w.yml": """
            version: 1
            fail-fast: true
            steps: { a: { run: "exit 1" }, b: { run: "echo > b" } }

            """,
        ])
        let stopped = try await make(["-j1"], in: test)
        #expect(stopped.status == .exited(2) && !test.exists("b") && stopped.stdout.contains("failure"))
        let result = try await make(["-k", "-j1"], in: test)
        #expect(result.status == .exited(2) && test.exists("b"))
        try test.write("version: 1\nsteps: { a: { run: echo said } }\n", to: "w.yml")
        try await make(["-s"], in: test).expect(exit: 0, stdout: "")
        let loud = try await make([], in: test)
        #expect(loud.stdout.contains("said"))
    }

    @Test(.enabled(if: hasMake, "make is not installed"))
    func `-j counts in place of the jobserver, which is told`() async throws {
        let test = try Self.project(recipe: "+@flowrun -f flowrun.yml -j 3 a")
        let result = try await make(["-j2", "a"], in: test)
        result.expect(exit: 0)
        result.expect(stderr: "flowrun: -j 3 overrides the jobserver of make\n")
        #expect(try peak(in: test).most <= 3)
    }

    @Test(.enabled(if: hasMake, "make is not installed"))
    func `outside of a make the steps and the makes in them are never more than -j`() async throws {
        let test = try Self.project()
        let result = try await test.run("flowrun.yml", "-j", "3", environment: environment(test))
        result.expect(exit: 0)
        let peak = try peak(in: test)
        #expect(peak.count == 36 && peak.most <= 3 && peak.most > 1)
    }

    @Test func `a step that takes part has the jobserver, with its own variables of make behind it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              plain: { run: "echo [$MAKEFLAGS]; test ! -e /proc/self/fd/9" }
              joined: { jobserver: true, run: "echo [$MAKEFLAGS]; test -p /proc/self/fd/9" }
              path: { jobserver: fifo, env: { MAKEFLAGS: k -- A=b }, run: "echo \\"[$MAKEFLAGS]\\"" }
            """)
        let result = try await test.runLogged("-j", "3", environment: ["MAKEFLAGS": nil])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "plain") == "[]\n")
        #expect(log.output(of: "joined") == "[ -j3 --jobserver-auth=9,9]\n")
        let path = log.output(of: "path")
        #expect(path.hasPrefix("[k -j3 --jobserver-auth=fifo:/") && path.hasSuffix("/jobs -- A=b]\n"))
        let alone = try await test.runLogged("-j", "1", environment: ["MAKEFLAGS": nil])
        #expect(try alone.log().output(of: "joined").isEmpty == false)
    }

    @Test func `the tokens of a step that is killed are there again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              taker: { jobserver: true, timeout: 200ms, grace: 0s, run: "head -c 2 <&9 > taken; exec sleep 1000" }
              next: { needs: { taker: done }, jobserver: true, run: "head -c 2 <&9 | wc -c" }
            """)
        let result = try await test.runLogged("-j", "3")
        result.expect(exit: 1)
        #expect(try test.contents(of: "taken") == "++")
        #expect(try result.log().output(of: "next") == "2\n")
    }
}
