import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Three hundred random workflows with real processes, each log held against the rules of every log.
struct RandomWorkflowTests {
    private static let perBatch = 15

    // B4, D17, H5, K5, O4, P1
    @Test(arguments: 0..<20)
    func `random workflows keep the rules of the log, interrupted or not, and leave nothing behind`(
        batch: Int
    ) async throws {
        var (tried, ran) = (0, 0)
        while ran < Self.perBatch {
            // Most of what is made is to be sound, or the batch tells little.
            try #require(tried < 3 * Self.perBatch, "only \(ran) of \(tried) workflows were accepted")
            if try await RandomRun(seed: UInt64(batch * 1000 + tried))() { ran += 1 }
            tried += 1
        }
    }
}

/// One of them: planned, run, looked at.
private struct RandomRun {
    private let seed: UInt64
    private let workflow: RandomWorkflow

    init(seed: UInt64) {
        self.seed = seed
        workflow = RandomWorkflow(seed: seed)
    }

    /// Answers whether the workflow was accepted, and so was run.
    func callAsFunction() async throws -> Bool {
        let test = try FlowrunTest(workflow.text)
        let plan = try await test.run("plan", "--format", "json", "workflow.yml")
        guard plan.status == .exited(0) else {
            if plan.status != .exited(2) { fail(["it was planned to \(plan.status)"], plan) }
            return false
        }
        let running = try await test.start([
            "run", "workflow.yml", "--log", "json", "--verbose", "-j", String(workflow.resources.jobs),
        ])
        // Every fifth is interrupted, every other one of those twice.
        var random = SeededGenerator(seed: seed ^ 0xFEED)
        for _ in 0..<(wasInterrupted ? seed % 2 + 1 : 0) {
            try await running.waitForRecords(Int.random(in: 1...40, using: &random))
            running.signal(SIGINT)
        }
        let result = try await running.finish()
        let log = try result.log()
        let planned = try DependencyTable(plan: plan.stdout).expanding(RandomWorkflow.dynamicKeys)
        let needs = planned.merging(DependencyTable(kinds: workflow.kinds))
        var broken = LogInvariants.violations(log, needs: needs, steps: try steps(plan.stdout, log))
        broken += workflow.resources.violations(log)
        broken += log.all("step.finished").compactMap(wrongEnd)
        broken += wrongEnd(of: result, log)
        let survivors = test.survivors()
        if !survivors.isEmpty { broken.append("left over: \(survivors)") }
        if !broken.isEmpty { fail(broken, result) }
        return true
    }

    /// Ids of all steps that the run has: those of the plan, and those that fan-outs have brought.
    private func steps(_ plan: String, _ log: EventLog) throws -> [String] {
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(plan.utf8))
        let planned = (answer["steps"]?.array ?? []).compactMap { $0["id"]?.string }.filter { !$0.contains("[*]") }
        return planned + log.lastRounds.all("step.added").compactMap(\.step)
    }

    /// What is wrong with the end of a step, given what its process does.
    private func wrongEnd(_ end: EventLog.Record) -> String? {
        let step = end.step ?? ""
        let (attempt, outcome) = (end["attempt"]?.int ?? 0, end.outcome ?? "")
        guard let work = workflow.works[step] else { return "\(step) is no step of the file" }
        guard attempt <= workflow.attempts[step] ?? 1 else { return "\(step) has no attempt \(attempt)" }
        let isRight =
            switch (outcome, work) {
            case ("success", .succeeds), ("success", .sleeps), ("success", .failsOnce), ("success", .lists):
                end["exit_code"]?.int == 0
            case ("failure", .exits(let code)): end["exit_code"]?.int == code
            case ("failure", .failsOnce): end["exit_code"]?.int == 1
            case ("failure", .dies): end["signal"]?.string == "SIGKILL"
            case ("timeout", .hangs): attempt > 0
            case ("success", _), ("failure", _), ("timeout", _): false
            case ("skipped", _), ("not-run", _): attempt == 0
            default: outcome == "cancelled"
            }
        return isRight ? nil : "\(step), which \(work), ended as \(end.fields)"
    }

    /// What is wrong with the exit status and the run's own outcome, given its log.
    private func wrongEnd(of result: FlowrunResult, _ log: EventLog) -> [String] {
        var found: [String] = []
        let outcome = log.runFinished?.outcome ?? ""
        let sources = log.all("run.cancel_requested").compactMap { $0["source"]?.string }
        let status: ProcessStatus =
            if sources.contains("SIGINT") {
                .signalled(SIGINT)
            } else if sources.contains("timeout") {
                .exited(124)
            } else {
                .exited(outcome == "success" ? 0 : 1)
            }
        // A signal that comes when all is over, or when the run has been cancelled already, may count all the same.
        let isLate = wasInterrupted && result.status == .signalled(SIGINT)
        if result.status != status, !isLate { found.append("it ended with \(result.status), not \(status)") }
        // A group that is cancelled between two rounds leaves the errors of the last one.
        let isRight = log.errors.isEmpty ? ["success", "cancelled"].contains(outcome) : outcome != "success"
        if !isRight { found.append("it ended as \(outcome) with errors \(log.errors)") }
        return found
    }

    private var wasInterrupted: Bool { seed % 5 == 0 }

    private func fail(_ broken: [String], _ result: FlowrunResult) {
        Issue.record(
            """
            seed \(seed): \(broken.joined(separator: "\n"))
            \(workflow.text)
            \(result.stdout)\(result.stderr)
            """)
    }
}
