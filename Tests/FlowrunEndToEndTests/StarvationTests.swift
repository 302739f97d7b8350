import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Too few descriptors, and commands that no process can be made of.
struct StarvationTests {
    // F22
    @Test(arguments: [48, 64, 128])
    func `with few descriptors fewer steps run at once, and none fails`(descriptors: Int) async throws {
        let steps = (1...100).map { "  s\($0): { timeout: 1h, run: 'sleep 0.01; echo done' }" }
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps.joined(separator: "\n"))\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", "-j", "100",
            launcher: ["sh", "-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\""])
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes.values.allSatisfy { $0 == "success" })
        for number in 1...100 { #expect(log.output(of: "s\(number)") == "done\n") }
    }

    // F22
    @Test func `with few descriptors nothing is left of a step either`() async throws {
        let steps = (1...12).map { "  s\($0): { run: 'setsid sleep 9999 > /dev/null 2>&1 &' }" }
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps.joined(separator: "\n"))\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", "-j", "100",
            launcher: ["sh", "-c", #"ulimit -n 48; exec "$0" "$@""#])
        #expect(test.survivors() == [])
        result.expect(exit: 0)
        let log = try result.log()
        for number in 1...12 { #expect(log.finished("s\(number)")?["escaped"]?.int == 1) }
    }

    // F23
    @Test(.enabled(if: Cgroup.ownProcesses != nil, "no cgroup of version 1 here that limits processes"))
    func `with few processes fewer steps run at once, and one warning says so`() async throws {
        let group = "\(try #require(Cgroup.ownProcesses))/flowrun-test-\(UUID().uuidString)"
        #expect(mkdir(group, 0o700) == 0)
        defer { rmdir(group) }
        // The guard, the runner and four steps, or three once there is a sentinel.
        try "6".write(toFile: group + "/pids.max", atomically: false, encoding: .utf8)
        let steps = (1...24).map { "  s\($0): { timeout: 1h, run: [sleep, '0.05'] }" }
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps.joined(separator: "\n"))\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", "-j", "24",
            launcher: ["bash", "-c", "echo $$ > \(group)/cgroup.procs; exec \"$0\" \"$@\""])
        result.expect(exit: 0)
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes.count == 24 && log.outcomes.values.allSatisfy { $0 == "success" })
        #expect(log.all("warning").map { $0["code"]?.string } == ["processes"])
        let message = log.first("warning")?["message"]?.string ?? ""
        #expect(message.contains(#/no more than [34] processes/#))
    }

    @Test func `too few descriptors for any step are told before one starts`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: touch ran } }\n")
        let result = try await test.run(
            "workflow.yml", launcher: ["sh", "-c", #"ulimit -n 20; exec "$0" "$@""#])
        result.expect(exit: 125)
        result.expect(stderr: "only 20 descriptors are allowed (ulimit -n)")
        #expect(!test.exists("ran"))
    }

    // F29
    @Test func `a step gets the limit of descriptors that flowrun was given`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: ulimit -Sn } }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", launcher: ["sh", "-c", #"ulimit -Sn 100; exec "$0" "$@""#])
        #expect(try result.log().output(of: "a") == "100\n")
    }

    // F26
    @Test func `what is too long for exec is named`() async throws {
        let big = String(repeating: "x", count: 200_000)
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: ['true'], env: { SMALL: x, BIG: \(big) } } }\n")
        let result = try await test.run("workflow.yml", "--log", "json")
        result.expect(exit: 1)
        let end = try #require(try result.log().finished("a"))
        #expect(end["errno"]?.int == Int(E2BIG))
        #expect(end.cause?.links.first?["message"]?.string?.contains("the variable `BIG` has 200004 bytes") == true)
    }

    @Test(.enabled(if: geteuid() == 0, "needs to be root to hide /proc"))
    func `without proc the program answers, and runs`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'echo setting=$SWIFT_BACKTRACE' } }\n")
        let hide = #"mount -t tmpfs none /proc && exec "$0" "$@""#
        let launcher = ["unshare", "--mount", "sh", "-c", hide]
        try await test.run("--version", launcher: launcher).expect(exit: 0)
        let result = try await test.run("workflow.yml", "--log", "json", launcher: launcher)
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "a") == "setting=\n")
        #expect(log.finished("a")?["containment"]?.string == "session")
    }

    // F25
    @Test func `a program that is open for writing is tried again`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              busy: { run: "cp /bin/true prog; exec 3>>prog; echo up > up; read _ < go" }
              uses: { run: [./prog], needs: { hold: success } }
              hold: { run: "read _ < up2" }
            """)
        let gate = try test.gate("go")
        let second = try test.gate("up2")
        let running = try await test.start("workflow.yml", "--log", "json", "-j", "3")
        try await running.waitForFile("up")
        second.open()
        try await running.waitForEvent("step.started", step: "uses")
        gate.open()
        try await running.finish().expect(exit: 0)
    }
}
