import FlowrunTestSupport
import Foundation
import Testing

/// What `check` says about wrong files.
struct FindingTests {
    private struct Finding: Decodable {
        struct Note: Decodable {
            let message: String
            let line: Int?
        }
        let severity: String
        let code: String
        let message: String
        let line: Int
        let column: Int
        let notes: [Note]
    }

    private func findings(_ test: FlowrunTest) async throws -> [Finding] {
        let result = try await test.run("check", "workflow.yml", "--format", "json")
        result.expect(exit: 2)
        return try JSONDecoder().decode([Finding].self, from: Data(result.stdout.utf8))
    }

    @Test(arguments: ["sarif", "github"])
    func `findings have the form that is asked for, and the same exit status`(form: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { abc: { run: x } }\n",
            files: ["faulty, 1.yml": "version: 1\nsteps: { abc: { run: x }, b: { needs: [abd], run: x } }\n"])
        let sound = try await test.run("check", "--format", form, "workflow.yml")
        sound.expect(exit: 0)
        let faulty = try await test.run("check", "--format", form, "workflow.yml", "faulty, 1.yml")
        faulty.expect(exit: 2)
        if form == "sarif" {
            #expect(sound.stdout.contains(#""results":[]"#))
            #expect(faulty.stdout.contains(#""uri":"faulty%2C%201.yml""#))
        } else {
            #expect(sound.stdout.isEmpty)
            #expect(faulty.stdout.hasPrefix("::error file=faulty%2C 1.yml,line=2,endLine=2,col="))
        }
    }

    @Test func `a run that can take longer than the deadline is an error`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: ./list, outputs: { x: list }, timeout: 1m, grace: 0s }
              each:
                needs: [list]
                for-each: ${{ steps.list.outputs.x }}
                max-items: 20
                run: ./each
                timeout: 3m
                grace: 0s
              endless: { run: ./endless, manual: true }
            """)
        for (deadline, jobs, expected) in [("62m", "1", 0), ("61m", "1", 2), ("34m", "2", 0), ("30m", "2", 2)] {
            let result = try await test.run("check", "workflow.yml", "--deadline", deadline, "-j", jobs)
            result.expect(exit: Int32(expected))
            if expected == 2 { result.expect(stdout: "error[FR0305]: a run can take ") }
        }
        try test.write("version: 1\nsteps: { a: { run: x } }\n", to: "endless.yml")
        let endless = try await test.run("check", "endless.yml", "--deadline", "1h")
        endless.expect(exit: 2)
        endless.expect(stdout: "longer than the deadline of 1h, or forever: `a` at endless.yml:2 has no `timeout`")
        let wrong = try await test.run("check", "endless.yml", "--deadline", "soon")
        wrong.expect(exit: 64)
        wrong.expect(stderr: "--deadline soon: expected a duration")
    }

    /// `left.a` needs `right`, which ends only with `right.c`, which needs `left`, which ends only with `left.a`.
    private static let cycleThroughGroups = """
        version: 1
        steps:
          left:
            steps:
              a: { needs: [right], run: "true" }
              b: { needs: [a], run: "true" }
          right:
            steps:
              c: { needs: [left], run: "true" }
              d: { needs: [c], run: "true" }
        """

    @Test func `a cycle of four through two groups is shown with four places and four reasons`() async throws {
        let test = try FlowrunTest(Self.cycleThroughGroups)
        let found = try await findings(test)
        #expect(found.map(\.code) == ["FR0301"])
        let hops = try #require(found.first).notes.filter {
            $0.message.contains("need") || $0.message.contains("member")
        }
        #expect(Set(hops.compactMap(\.line)).isSuperset(of: [5, 9]))
        for reason in [
            "`left.a` needs `right`", "`right` ends only when its member `c` has ended", "`right.c` needs `left`",
            "`left` ends only when its member `a` has ended",
        ] {
            #expect(hops.contains { $0.message == reason && $0.line != nil }, "\(reason) in \(hops.map(\.message))")
        }

        let text = try await test.run("check", "workflow.yml")
        text.expect(exit: 2)
        text.expect(stdout: "workflow.yml:5:", "error[FR0301]")
        #expect(text.stdout.split(separator: "\n").filter { $0.contains("workflow.yml:") }.count >= 4)
    }

    @Test func `run refuses what check refuses, and starts nothing`() async throws {
        let test = try FlowrunTest(Self.cycleThroughGroups)
        let result = try await test.run("run", "workflow.yml")
        result.expect(exit: 2, stdout: "")
        result.expect(stderr: "error[FR0301]")
    }

    @Test func `three mistakes and two cycles are reported in one go, in the order of their places`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a: { needs: [b], run: "true" }
              b: { needs: [a], run: "true" }
              typo: { need: [a], run: "true" }
              unknown: { needs: [nobody], run: "true" }
              bare: { timeout: 30, run: "true" }
              p: { needs: [r], run: "true" }
              q: { needs: [p], run: "true" }
              r: { needs: [q], run: "true" }
            """)
        let found = try await findings(test)
        #expect(found.map(\.line) == [3, 5, 6, 7, 8])
        #expect(found.filter { $0.code == "FR0301" }.map(\.line) == [3, 8])
        #expect(found.first { $0.line == 6 }?.code == "FR0203")
        #expect(found.allSatisfy { $0.severity == "error" })
    }

    @Test func `an unknown dependency is shown with its excerpt and the nearest name`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              compile: { run: "true" }
              link: { needs: [compil], run: "true" }
            """)
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        result.expect(
            stdout: "workflow.yml:4:19: error[FR0203]: ", "needs: [compil]", "^^^^^^",
            "workflow.yml:3:3: did you mean `compile`"
        )
    }

    @Test func `a valid file has no findings`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'true' } }\n")
        try await test.run("check", "workflow.yml").expect(exit: 0)
        let json = try await test.run("check", "workflow.yml", "--format", "json")
        json.expect(exit: 0)
        #expect(try JSONDecoder().decode([Finding].self, from: Data(json.stdout.utf8)).isEmpty)
    }

    @Test func `all files given are checked`() async throws {
        let test = try FlowrunTest(
            files: ["good.yml": "version: 1\nsteps: { a: { run: 'true' } }\n", "bad.yml": "version: 1\n"])
        let result = try await test.run("check", "bad.yml", "good.yml", "missing.yml")
        result.expect(exit: 2)
        result.expect(stdout: "bad.yml:1:1: error[")
        result.expect(stdout: "missing.yml")
    }

    @Test func `what is not built yet is refused, never ignored`() async throws {
        let test = try FlowrunTest("version: 1\nsteps:\n  a: { run: 'true', sources: [x] }\n")
        let result = try await test.run("check", "workflow.yml")
        result.expect(exit: 2)
        result.expect(stdout: "workflow.yml:3:21: error[FR0208]: ", "`sources`", "not supported yet")
    }
}
