import FlowrunTestSupport
import Glibc
import Processes
import RunLog
import Testing

@testable import Running

/// Random workflows whose steps, conditions, lists and hooks read `vars`, with failures, retries, rounds, cancels,
/// pauses and signals, in virtual time.
struct SharedValueRunTests {
    private typealias Behaviour = FakeSpawner.Behaviour
    private static let runs = getenv("FLOWRUN_PROOF_WORKFLOWS").flatMap { Int(String(cString: $0)) } ?? 200

    @Test(arguments: 0..<8) @EventLoopActor
    func `commands of vars share the places of steps, and every run comes to its end`(batch: Int) throws {
        for seed in stride(from: batch, to: Self.runs, by: 8) {
            var random = SeededGenerator(seed: UInt64(seed))
            let text = Self.workflow(&random)
            let jobs = Int.random(in: 1...3, using: &random)
            let salt = Int.random(in: 0..<1000, using: &random)
            var spawned = 0
            let run = try VirtualRun(text, jobs: jobs) { step, attempt in
                spawned += 1
                var own = SeededGenerator(seed: UInt64(salt + spawned))
                return Behaviour(
                    duration: .seconds(Int.random(in: 1...9, using: &own)),
                    status: .exited(Int.random(in: 0..<6, using: &own) == 0 ? 1 : 0), output: step.isEmpty ? "x" : "")
            }
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let time = Duration.seconds(Int.random(in: 0...30, using: &random))
                switch Int.random(in: 0..<5, using: &random) {
                case 0: run.at(time) { _ = run.runner.cancel(nil) }
                case 1: run.at(time) { run.runner.interrupt(by: SIGINT) }
                case 2:
                    let step = "g.m\(Int.random(in: 0..<3, using: &random))"
                    run.at(time) { _ = run.runner.cancel(step) }
                case 3:
                    let freezes = Bool.random(using: &random)
                    run.at(time) { run.runner.pause(by: "ctl", freezing: freezes) }
                    run.at(time + .seconds(5)) { run.runner.resume(by: "ctl") }
                default:
                    for index in 0..<4 {
                        let step = "s\(index)"
                        run.at(time) { _ = run.runner.cancel(step) }
                    }
                }
            }
            try run.run()
            let comment: Comment = "seed \(seed), -j \(jobs):\n\(text)\n\(run.lines.joined(separator: "\n"))"
            #expect(run.spawner.peak <= jobs, comment)
            #expect(Self.isPaired(run.events), comment)
            guard run.spawner.peak <= jobs, Self.isPaired(run.events) else { return }
        }
    }

    /// True if each command that started has one end before it starts again.
    private static func isPaired(_ events: [RunEvent]) -> Bool {
        var open: Set<ValueID> = []
        for event in events {
            switch event.kind {
            case .valueStarted(let start): if !open.insert(start.value).inserted { return false }
            case .valueFinished(let end): if open.remove(end.value) == nil { return false }
            default: break
            }
        }
        return open.isEmpty
    }

    private static func workflow(_ random: inout SeededGenerator) -> String {
        var lines = [
            "vars:", "  v0: { run: x }", "  v1: { run: x, timeout: 6s }", "  v2: { run: 'echo $v0' }", "steps:",
        ]
        func read(_ names: [String]) -> String {
            let name = names.randomElement(using: &random)!
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return "if: vars.\(name) == 'x', run: x"
            case 1: return "for-each: \"${{ [vars.\(name), 'y'] }}\", fail-fast: false, run: 'echo $\(name)'"
            case 2: return "run: x"
            case 3: return "run: 'echo $\(name)', retry: { attempts: 2 }"
            default: return "run: [echo, '${{ vars.\(name) }}'], mutex: m"
            }
        }
        for index in 0..<4 {
            let needs = (0..<index).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.map { "s\($0): done" }
            lines.append(
                "  s\(index): { needs: { \(needs.joined(separator: ", ")) }, \(read(["v0", "v1", "v2"])) }")
        }
        let extra = ["", ", timeout: 12s", ", max-parallel: 1", ", mutex: m, retry: { attempts: 2 }"]
            .randomElement(using: &random)!
        lines.append("  g:")
        lines.append("    vars: { own: { run: 'echo $v0' } }")
        if !extra.isEmpty {
            lines += extra.dropFirst(2).split(separator: ", ").map { "    \($0)" }
        }
        lines.append("    steps:")
        for index in 0..<3 { lines.append("      m\(index): { \(read(["own", "v1", "own"])) }") }
        if Bool.random(using: &random) { lines += ["    finally:", "      h: { run: 'echo $own', timeout: 20s }"] }
        if Bool.random(using: &random) { lines += ["finally:", "  h: { run: 'echo $v2', timeout: 20s }"] }
        return lines.joined(separator: "\n")
    }
}
