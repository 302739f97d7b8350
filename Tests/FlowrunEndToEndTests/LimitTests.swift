import FlowrunTestSupport
import Foundation
import Testing

/// How many steps run at once. Each step tells that it is up and waits for the test, so that a limit is reached for
/// certain before anything ends.
struct LimitTests {
    enum Place: String, CaseIterable, Sendable {
        case commandLine, top, group, outerGroup, fanOut

        var workflow: String {
            let step = "run: \"echo up >> ups; read _ < go\""
            let steps = { (indent: String) in
                (1...6).map { "\(indent)s\($0): { \(step) }" }.joined(separator: "\n")
            }
            return switch self {
            case .commandLine: "version: 1\nsteps:\n\(steps("  "))\n"
            case .top: "version: 1\nmax-parallel: 3\nsteps:\n\(steps("  "))\n"
            case .group: "version: 1\nsteps:\n  g:\n    max-parallel: 3\n    steps:\n\(steps("      "))\n"
            case .outerGroup:
                "version: 1\nsteps:\n  o:\n    max-parallel: 3\n    steps:\n      g:\n        steps:\n"
                    + steps("          ") + "\n"
            case .fanOut: "version: 1\nsteps:\n  f: { for-each: [a, b, c, d, e, f], max-parallel: 3, \(step) }\n"
            }
        }
    }

    // Q3, I6
    @Test(arguments: Place.allCases)
    func `a limit is reached and never exceeded`(place: Place) async throws {
        let test = try FlowrunTest(place.workflow)
        let gate = try test.gate("go")
        let jobs = place == .commandLine ? "3" : "8"
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", jobs)
        try await running.waitForLines(in: "ups", 3)
        for ended in 1...6 {
            gate.open()
            try await running.waitForLines(in: "ups", min(6, 3 + ended))
        }
        let result = try await running.finish()
        result.expect(exit: 0)
        #expect(try result.log().maximumRunning() == 3)
        LogInvariants.check(try result.log())
    }

    @Test func `a fan-out's limit counts instances, not steps`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each:
                for-each: [a, b, c]
                as: item
                max-parallel: 1
                steps:
                  one: { run: "echo $item >> ups; read _ < go" }
                  two: { run: "echo $item >> ups; read _ < go" }
            """)
        let gate = try test.gate("go")
        let running = try await test.start("run", "workflow.yml", "--log", "json", "-j", "8")
        for item in ["a", "b", "c"] {
            let lines = try await running.waitForLines(in: "ups", item == "a" ? 2 : item == "b" ? 4 : 6)
            #expect(lines.suffix(2) == [item, item])
            gate.open(2)
        }
        let result = try await running.finish()
        result.expect(exit: 0)
        #expect(try result.log().maximumRunning() == 2)
    }

    // Q1
    @Test func `with one slot, equals start in the order of the file`() async throws {
        let names = ["delta", "alpha", "charlie", "bravo", "echo"]
        let steps = names.map { "  \($0): { run: ['true'] }" }.joined(separator: "\n")
        let test = try FlowrunTest("version: 1\nsteps:\n\(steps)\n")
        let result = try await test.runLogged("-j", "1")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == names)
        #expect(log.maximumRunning() == 1)
        LogInvariants.check(log, steps: names)
    }

    // Q3
    @Test func `two slots really overlap`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { run: echo a > to-b; read _ < to-a }
              b: { run: echo b > to-a; read _ < to-b }
            """)
        let (a, b) = (try test.gate("to-a"), try test.gate("to-b"))
        let result = try await test.runLogged("-j", "2")
        withExtendedLifetime((a, b)) {}
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.maximumRunning() == 2)
        LogInvariants.check(log)
    }

    private static let one = "version: 1\nsteps: { a: { run: [true] } }\n"

    @Test func `by default no more steps run at once than Slurm gives processors`() async throws {
        let test = try FlowrunTest(Self.one)
        let slurm = ["SLURM_CPUS_ON_NODE": "1"]
        try await test.run("run", "workflow.yml", environment: slurm).expect(stdout: "1 step, up to 1 at once")
        try await test.run("run", "workflow.yml", "-j", "5", environment: slurm).expect(stdout: "up to 5 at once")
        let usual = try await test.run("run", "workflow.yml").stdout.prefix { $0 != "\n" }
        for odd in ["0", "-1", "", "x", "100000"] {
            let result = try await test.run("run", "workflow.yml", environment: ["SLURM_CPUS_ON_NODE": odd])
            result.expect(stdout: String(usual))
        }
    }

    @Test(.enabled(if: Cgroup.ownProcessors != nil, "no cgroup of version 1 here that limits processor time"))
    func `by default no more steps run at once than a quota gives time for`() async throws {
        let group = "\(try #require(Cgroup.ownProcessors))/flowrun-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: group, withIntermediateDirectories: false)
        defer { rmdir(group) }
        try "60000".write(toFile: "\(group)/cpu.cfs_quota_us", atomically: false, encoding: .utf8)
        let test = try FlowrunTest(Self.one)
        let result = try await test.run(
            "run", "workflow.yml",
            launcher: ["sh", "-c", #"echo $$ > "\#(group)/cgroup.procs"; exec "$0" "$@""#])
        result.expect(stdout: "1 step, up to 1 at once")
    }
}
