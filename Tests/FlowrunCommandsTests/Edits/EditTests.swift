import FlowrunTestSupport
import Foundation
import Testing

/// The edits of a finding, `fix.edits`, applied to its file.
struct EditTests {
    /// Steps of a workflow, and the text that the edits of its only finding make of them; nil for no edits.
    private static let cases: [(steps: String, edited: String?)] = [
        (#"a: { run: "echo ${{ params.p }}" }"#, #"a: { run: "echo \"$p\"" }"#),
        (#"a: { run: 'echo ${{ params.p }}' }"#, #"a: { run: 'echo "$p"' }"#),
        (#"a: { run: "echo '${{ params.p }}'" }"#, nil),
        ("a:\n    run:build", "a:\n    { run: \"build\" }"),
        ("a:\n    run:'echo hi'", "a:\n    run: 'echo hi'"),
        ("a:\n    run:[echo, hi]", "a:\n    run: [echo, hi]"),
        ("a:\n    run: x\n    name:y", "a:\n    run: x\n    name: y"),
        ("a\n    run: x", "a:\n    run: x"), ("b: { run: x }\n  a\n    run: x", "b: { run: x }\n  a:\n    run: x"),
        ("a:\n    run: x\n    env\n      A: b", "a:\n    run: x\n    env:\n      A: b"), ("a b\n    run: x", nil),
        ("a:\n    run: x\n      y\n        b: z", nil), ("a:\n    run x", "a:\n    { run: \"x\" }"),
        ("a: { run: x, name:@y }", "a: { run: x, name: \"@y\" }"), ("a: { run:x }", "a: { run: x }"),
        ("a: { run:'x y', name: z }", "a: { run: 'x y', name: z }"), ("a: { run: x, name:[y] }", nil),
        ("a: { run: x, env:{ A: b } }", "a: { run: x, env: { A: b } }"),
        ("a: { run: echo b:[c] }", "a: { run: 'echo b:[c]' }"),
        (
            "a: { run: x, retry: { delay: 1s, attempts: 2, jitter:0.5 } }",
            "a: { run: x, retry: { delay: 1s, attempts: 2, jitter: 0.5 } }"
        ),
        ("a: { run: x, deps: b }\n  b: { run: x }", "a: { run: x, needs: [b] }\n  b: { run: x }"),
        ("a: { run: x, ignore_errors: yes }", "a: { run: x, continue-on-error: true }"),
        ("a: { run: x, parallel: 3 }", nil), ("a: { run: x, only: [main] }", nil), ("a: { run: x, limit: 3 }", nil),
        ("a: { run: x, when: always }", "a: { run: x, if: always() }"),
        ("a: { run: x, if: always }", "a: { run: x, if: always() }"),
        ("a: { run: x, if: '!cancelled' }", "a: { run: x, if: '!cancelled()' }"),
        ("a: { run: [x, '${{ steps.b.outcome }}'] }\n  b: { run: x, needs: [a] }", nil),
        ("a:\n    run: x\n    name:|y", nil),
        ("a:\n    run: x\n    name:- y", nil),
        ("a:\n    run: x\n    name:@y", nil),
        (#"a: { if: "'${{ params.b }}'", run: x }"#, nil),
        ("a: { need: [b], needs: [c], run: x }\n  b: { run: x }\n  c: { run: x }", nil),
        (
            "a: { run: x }\n  b: { run: x }\n  c: { needs: a b, run: x }",
            "a: { run: x }\n  b: { run: x }\n  c: { needs: [a, b], run: x }"
        ),
        ("a: { run: x\n  b: { run: x }", nil),
        ("g: { order: serial, steps: { b: { run: x } } }", "g: { order: sequence, steps: { b: { run: x } } }"),
        ("b: { run: x }\n  c: { needs: { b: ok }, run: x }", "b: { run: x }\n  c: { needs: { b: success }, run: x }"),
        (
            #"a: { run: x, outputs: { v: string } }"# + "\n  b: { run: [x, '${{ steps.a.outputs.v }}'] }",
            #"a: { run: x, outputs: { v: string } }"# + "\n  b: { needs: [a], run: [x, '${{ steps.a.outputs.v }}'] }"
        ),
        (
            "a: { run: x }\n  c: { run: x }\n  b:\n    needs: [c]\n    run: [x, '${{ steps.a.outcome }}']", nil
        ),
        (
            "a: { run: x }\n  b:\n    run: [x, '${{ steps.a.outcome }}']",
            "a: { run: x }\n  b:\n    needs: { a: done }\n    run: [x, '${{ steps.a.outcome }}']"
        ),
        (
            "a: { run: x, outputs: { v: int } }\n  c: { run: x }\n  b: { needs: [c], run: [x, '${{ steps.a.outputs.v }}'] }",
            "a: { run: x, outputs: { v: int } }\n  c: { run: x }\n  b: { needs: [c, a], run: [x, '${{ steps.a.outputs.v }}'] }"
        ),
    ]

    private static func file(_ steps: String) -> String {
        "version: 1\nparams: { p: {}, b: { type: bool, default: true } }\nsteps:\n  \(steps)\n"
    }

    @Test(arguments: cases.indices)
    func `an edit is offered where it mends what it is offered for`(_ index: Int) throws {
        let (steps, edited) = Self.cases[index]
        let file = try EditedFile(Self.file(steps))
        let finding = try #require(file.findings.first)
        guard let edited else {
            #expect(file.findings.allSatisfy { $0.fix?.edits.isEmpty != false }, "\(file.findings)")
            return
        }
        #expect(finding.fix?.edits.isEmpty == false, "\(file.findings)")
        #expect(file.edited(by: finding) == Self.file(edited))
        #expect(try EditedFile(Self.file(edited)).findings.isEmpty)
    }

    /// `make proof` sets FLOWRUN_PROOF_MUTATED_FILES to ten thousand.
    @Test func `no edit for a mistake leaves a finding in its place or makes one in its own text`() throws {
        let files = ProcessInfo.processInfo.environment["FLOWRUN_PROOF_MUTATED_FILES"].flatMap(Int.init) ?? 400
        var (findings, offered, dropped, rest) = (0, 0, 0, 0)
        for seed in 0..<UInt64(files) {
            var random = SeededGenerator(seed: seed)
            let mutated = MutatedFile(&random)
            let file = try EditedFile(mutated.text)
            let untried = try EditedFile(mutated.text, isTried: false)
            findings += file.findings.count
            for (finding, made) in zip(file.findings, untried.findings) where made.fix?.edits.isEmpty == false {
                guard finding.fix?.edits.isEmpty == false else {
                    dropped += 1
                    rest += try untried.problem(made) == nil ? 1 : 0
                    continue
                }
                offered += 1
                if let problem = try file.problem(finding) {
                    Issue.record("seed \(seed): the edits for \(finding.code) \(finding.message): \(problem)")
                }
            }
        }
        print("\(files) mutated files, \(findings) findings, \(offered) with edits")
        print("\(dropped) edits dropped, \(rest) of which would have mended their place")
        // The generator makes mistakes that have edits, and some of these are bad.
        #expect(offered > files / 5 && dropped > 0)
    }
}
