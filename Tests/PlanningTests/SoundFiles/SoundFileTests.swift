import FlowrunTestSupport
import Foundation
import Planning
import Syntax
import Testing
import Workflow

/// `check` finds nothing in files without mistakes.
struct SoundFileTests {
    /// `make proof` asks for more, and for larger ones.
    private static func number(_ name: String, otherwise: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap(Int.init) ?? otherwise
    }

    @Test func `a sound file that reads outputs has no finding, however large it is`() {
        let files = Self.number("FLOWRUN_PROOF_SOUND_FILES", otherwise: 60)
        let largest = Double(Self.number("FLOWRUN_PROOF_SOUND_STEPS", otherwise: 3000))
        var (steps, reads) = (0, 0)
        for seed in 1...UInt64(files) {
            var random = SeededGenerator(seed: seed)
            // As many of ten steps as of ten thousand.
            let size = Int(exp(Double.random(in: log(2)...log(largest), using: &random)))
            let file = SoundFile(steps: seed == 1 ? Int(largest) : size, random: &random)
            (steps, reads) = (steps + file.steps, reads + file.reads)
            let source = SourceFile(name: "sound.yml", text: file.text)
            let (workflow, mistakes) = WorkflowDecoder.read(source)
            let findings = mistakes + (workflow.map(Planner.findings) ?? [])
            if let first = findings.first {
                Issue.record("seed \(seed): \(findings.count) findings\n\(DiagnosticRenderer().render(first))")
            }
        }
        #expect(reads > steps / 2)
        print("\(files) sound files, \(steps) steps, \(reads) reads")
    }

    @Test func `layers of a hundred that all read what the first one set up are sound`() {
        var steps = "setup: { run: x, outputs: { v: string } }"
        for layer in 0..<4 {
            let before = layer == 0 ? "setup" : (0..<100).map { "l\(layer - 1)s\($0)" }.joined(separator: ", ")
            for step in 0..<100 {
                steps += "\nl\(layer)s\(step): { needs: [\(before)], run: [x, \"${{ steps.setup.outputs.v }}\"] }"
            }
        }
        #expect(Planned(steps).summary == [])
    }
}
