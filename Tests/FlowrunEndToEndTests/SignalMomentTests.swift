import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A signal at any moment of a run, by strace, which sends it at the n-th call of one kind.
struct SignalMomentTests {
    private static let workflow = """
        version: 1
        steps:
          a: { run: [touch, ran] }
          b: { needs: [a], run: ["true"] }
        """
    /// Every call of a run is some hundreds. All of them where this is set, otherwise one of eleven.
    private static let stride = ProcessInfo.processInfo.environment["FLOWRUN_PROOF_MOMENTS"] == nil ? 11 : 1

    /// The kinds of calls that flowrun makes, and how many of each at most in one of its two processes.
    private func calls() async throws -> [(name: String, count: Int)] {
        let test = try FlowrunTest(Self.workflow)
        let traced = try await test.run(
            "workflow.yml", "--log", "json", launcher: ["strace", "-f", "-qq", "-o", "trace", "-e", "signal=none"])
        traced.expect(exit: 0)
        var order: [Substring] = []
        var counts: [Substring: [Substring: Int]] = [:]
        for line in try test.contents(of: "trace").split(separator: "\n") {
            // Numbers are padded.
            let process = line.prefix { $0 != " " }
            let call = line.dropFirst(process.count).drop { $0 == " " }
            guard let end = call.firstIndex(of: "("), call.first?.isLetter == true else { continue }
            if !order.contains(process) { order.append(process) }
            counts[call[..<end], default: [:]][process, default: 0] += 1
        }
        let own = order.prefix(2)
        return counts.map { name, counts in (String(name), own.map { counts[$0] ?? 0 }.max() ?? 0) }
            .filter { $0.count > 0 }.sorted { $0.name < $1.name }
    }

    // F14, F15
    @Test(.enabled(if: FaultTests.hasStrace, "strace is not installed"))
    func `a signal at any call ends in a whole log that agrees with the exit status, or before there is one`()
        async throws
    {
        let moments = try await calls().flatMap { call in (1...call.count).map { (call.name, $0) } }
        #expect(moments.count > 100)
        for (index, (name, number)) in moments.enumerated() where index % Self.stride == 0 {
            let (word, signal) = [("INT", SIGINT), ("TERM", SIGTERM), ("HUP", SIGHUP)][index / Self.stride % 3]
            let test = try FlowrunTest(Self.workflow)
            let result = try await test.run(
                "workflow.yml", "--log", "json",
                launcher: [
                    "strace", "-f", "-qq", "-o", "trace", "-e", "trace=\(name)",
                    "-e", "inject=\(name):signal=\(word):when=\(number)",
                ])
            let moment: Comment = "SIG\(word) at call \(number) of \(name)"
            #expect(test.survivors() == [], moment)
            let log = try EventLog(jsonLines: result.stdout)
            guard !log.records.isEmpty else {
                #expect(result.status == .signalled(signal) && !test.exists("ran"), moment)
                continue
            }
            #expect(LogInvariants.violations(log) == [], moment)
            switch result.status {
            case .exited(0): #expect(log.runFinished?.outcome == "success", moment)
            // The signal was for a step.
            case .exited(1): #expect(log.runFinished?.outcome == "failure", moment)
            default:
                #expect(result.status == .signalled(signal), moment)
                #expect(["cancelled", "failure"].contains(log.runFinished?.outcome), moment)
            }
        }
    }
}
