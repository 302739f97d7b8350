import FlowrunTestSupport
import Foundation
import Testing

/// `--dry-run` prints the commands that a run starts: the words, folder, environment and standard input of each.
struct DryRunTests {
    private static func changed(_ base: [String: String], _ changes: JSONValue?) -> [String: String] {
        var base = base
        for change in changes?.array ?? [] {
            base[change["name"]?.string ?? ""] = change["value"]?.string
        }
        return base
    }

    private static let clean = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"]

    @Test(arguments: MicroWorkflow.all)
    func `what it prints is what then runs`(micro: MicroWorkflow) async throws {
        var (test, environment) = try micro.make()
        let listed = try await test.start(
            ["-f", "workflow.yml", "-n", "--format", "json"] + micro.words, environment: environment
        ).finish()
        let text = try await test.start(["-f", "workflow.yml", "-n"] + micro.words, environment: environment).finish()
        listed.expect(exit: 0, stderr: "")
        text.expect(exit: 0, stderr: "")
        #expect(!test.exists("order") && !test.exists(".flowrun"))
        try await test.run("-f", "base.yml", environment: environment).expect(exit: 0)
        for (name, value) in micro.environment { environment[name] = value }
        try await test.start(
            ["-f", "workflow.yml", "-j", "1", "--no-journal"] + micro.words, environment: environment
        ).finish().expect(exit: 0)

        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(listed.stdout.utf8))
        let steps = try #require(answer["steps"]?.array).filter { $0["skipped"]?.bool == false }
        let ids = steps.compactMap { $0["id"]?.string }
        let ran = try test.contents(of: "order").split(separator: "\n").dropFirst().map(String.init)
        #expect(!ids.isEmpty && ids.sorted() == ran.sorted())
        let base = try MicroWorkflow.variables(of: "base", in: test)
        for (index, step) in steps.enumerated() {
            let id = ids[index]
            let found = MicroWorkflow.words(try test.contents(of: "records/\(id).words")).map { word in
                word.contains("/flowrun-") && word.hasSuffix("-\(id)") ? "<script>" : word
            }
            var wanted = try #require(step["arguments"]?.strings)
            wanted[0] = String(wanted[0].split(separator: "/").last ?? "")
            #expect(found == wanted, "\(id)")
            let folder = step["folder"]?.string.map { $0 == "." ? test.folder : test.path($0) } ?? test.folder
            #expect(try test.contents(of: "records/\(id).folder") == folder, "\(id)")
            #expect(try test.contents(of: "records/\(id).stdin") == step["stdin"]?.string ?? "", "\(id)")
            let isClean = step["env_policy"]?.string == "clean"
            let inherited = isClean ? base.filter { Self.clean.contains($0.key) } : base
            var expected = Self.changed(Self.changed(inherited, answer["env"]), step["env"])
            if expected["TOKEN"] == "***" { expected["TOKEN"] = micro.environment["MY_TOKEN"] }
            #expect(try MicroWorkflow.variables(of: id, in: test) == expected, "\(id)")
            try await expectText(text.stdout, of: step, in: test, next: index + 1 < ids.count ? ids[index + 1] : nil)
        }
        try await expectLegalOrder(ids, micro, environment: environment, in: test)
    }

    /// What a step or a group around it needs comes before it, and hooks come last.
    private func expectLegalOrder(
        _ ids: [String], _ micro: MicroWorkflow, environment: [String: String?], in test: FlowrunTest
    ) async throws {
        let words = micro.words.prefix { $0 != "--" && $0 != "--env" && $0 != "--trace" }
        let plan = try await test.start(
            ["plan", "-f", "workflow.yml", "--format", "json"] + words, environment: environment
        ).finish()
        plan.expect(exit: 0)
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(plan.stdout.utf8))
        func places(of id: String) -> [Int] {
            ids.indices.filter { ids[$0] == id || ids[$0].hasPrefix("\(id).") || ids[$0].hasPrefix("\(id)[") }
        }
        for row in (answer["steps"]?.array ?? []) + (answer["groups"]?.array ?? []) {
            let id = try #require(row["id"]?.string)
            for need in row["needs"]?.strings ?? [] {
                #expect(places(of: need).max() ?? -1 < places(of: id).min() ?? ids.count, "\(id) after \(need)")
            }
            guard let dot = id.range(of: "finally") else { continue }
            let others = ids.indices.filter { ids[$0].hasPrefix(id[..<dot.lowerBound]) && !ids[$0].contains("finally") }
            #expect(others.max() ?? -1 < places(of: id).min() ?? ids.count, "\(id)")
        }
    }

    /// The text of a step has its script, or its words as a shell reads them.
    private func expectText(_ text: String, of step: JSONValue, in test: FlowrunTest, next: String?) async throws {
        let id = try #require(step["id"]?.string)
        let start = try #require(text.range(of: "\n# \(id) ("))
        let end = next.flatMap { text.range(of: "\n\n# \($0) (", range: start.lowerBound..<text.endIndex)?.lowerBound }
        let block = String(text[start.upperBound..<(end ?? text.endIndex)])
        if let script = step["script"]?.string {
            let lines = script.hasSuffix("\n") ? script : script + "\n"
            #expect((block.hasSuffix("\n") ? block : block + "\n").contains("\n" + lines), "\(id)")
            return
        }
        let commands = block.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
            .drop { $0.hasPrefix("# ") }.prefix { !$0.hasPrefix("# ") }.joined(separator: "\n")
        let read = try await test.run(
            launcher: ["/bin/bash", "-c", "eval \"set -- $WORDS\"; printf '%s\\0' \"$@\""], environmentOf: commands)
        #expect(MicroWorkflow.words(read.stdout) == step["arguments"]?.strings, "\(id)")
    }

    @Test func `names stand for what only the run knows, and nothing starts`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { TOKEN: { env: NO_SUCH_VARIABLE } }
            vars:
              now: { run: touch ran; date +%s }
              later: { shell: sh, run: 'touch ran; echo "$now"' }
              both: "v-${{ vars.now }}"
            steps:
              z: { needs: [a, dyn], run: [echo, "${{ steps.a.outputs.v }}", "x${{ len(vars.both) }}", "${{ run.id }}"] }
              a: { outputs: { v: string }, secrets: [TOKEN], env: { N: "${{ vars.later }}" }, run: touch ran }
              list: { outputs: { l: { type: lines, from: stdout } }, run: touch ran }
              dyn: { needs: [list], for-each: "${{ steps.list.outputs.l }}", run: [echo, "${{ item }}", "${{ item == 'x' }}"] }
              m: { needs: [a], if: steps.a.outputs.v == 'x', confirm: Sure?, run: cat "$FLOWRUN_TEMP/x" }
              o: { needs: { a: failure }, require: [{ if: steps.a.outcome == 'success', message: fail }], run: x }
              gone: { dotenv: missing.env, run: x }
              t: { uses: body, with: { p: "${{ steps.a.outputs.v }}" }, needs: [a] }
            templates:
              body: { params: { p: { type: string }, q: { default: k } }, steps: { s: { run: [echo, "${{ params.p }}", "${{ params.q }}", "${{ params.p == 'x' }}"] } } }
            on-failure: { report: { run: mail } }
            finally: { end: { run: "rm -f x", stdin: "${{ run.outcome }}" } }
            """)
        let answer = try await test.run("workflow.yml", "-n", environment: ["NO_SUCH_VARIABLE": nil])
        answer.expect(
            exit: 0,
            stdout: """
                # workflow.yml: 10 steps, in an order in which they may run

                # vars.now (workflow.yml:4)
                touch ran; date +%s

                # vars.later (workflow.yml:5)
                # shell: sh -e -c
                # env: now='<vars.now>'
                touch ran; echo "$now"

                # a (workflow.yml:9)
                # env: N='<vars.later>' TOKEN='***' later='<vars.later>'
                touch ran

                # list (workflow.yml:10)
                touch ran

                # dyn[*] (workflow.yml:11)
                # env: item='<item>'
                echo '<item>' '<item == '\\''x'\\''>'

                # z (workflow.yml:8)
                # env: both='<vars.both>'
                echo '<steps.a.outputs.v>' 'x<len(vars.both)>' '<run.id>'

                # m (workflow.yml:12)
                # if: steps.a.outputs.v == 'x'
                # asks: Sure?
                cat "$FLOWRUN_TEMP/x"

                # o (workflow.yml:13)
                # require: steps.a.outcome == 'success'
                # only if `a` fails
                x

                # gone (workflow.yml:14)
                # cannot start: `missing.env` (dotenv at workflow.yml:14): no such file; create it, or say `{path: missing.env, optional: true}`

                # t.s (workflow.yml:17)
                # env: p='<steps.a.outputs.v>' q=k
                echo '<steps.a.outputs.v>' k '<params.p == '\\''x'\\''>'

                # on-failure.report (workflow.yml:18), only after a failure
                mail

                # finally.end (workflow.yml:19), at the end
                # stdin: <run.outcome>
                rm -f x

                """, stderr: "")
        #expect(!test.exists("ran") && !test.exists(".flowrun"))
    }
}

extension FlowrunTest {
    fileprivate func run(launcher: [String], environmentOf words: String) async throws -> FlowrunResult {
        try await run(environment: ["WORDS": words], launcher: launcher)
    }

    @Test(arguments: ["-n", "-q", "-t", "-kn", "--just-print", "-j2 -n"])
    func `make without making has a run in a recipe shown`(options: String) async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: touch ran } }\n",
            files: ["Makefile": "all:\n\t+\"$(FLOWRUN)\" workflow.yml\n"])
        let launcher = ["sh", "-c", #"FLOWRUN=$0 make \#(options) CFLAGS=-n"#]
        let result = try await test.run(launcher: launcher)
        result.expect(stdout: "touch ran")
        result.expect(stderr: "nothing is started")
        #expect(!test.exists("ran"))
        try await test.run(launcher: ["sh", "-c", #"FLOWRUN=$0 make -k -j2 -l 9 CFLAGS=-n"#]).expect(exit: 0)
        #expect(test.exists("ran"))
    }

    @Test(arguments: [
        "k: { needs: [m], run: [echo, \"${{ steps.m.outcome }}\"] }",
        "k: { needs: [m], if: steps.m.outcome == 'success', run: echo }",
        "k: { needs: [m], run: 'true' } }, finally: { h: { run: [echo, \"${{ steps.m.outcome }}\"] }",
    ])
    func `a member of copies that only the run knows may read another one`(member: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              l: { run: 'echo x', outputs: { l: { type: lines, from: stdout } } }
              f: { needs: [l], for-each: "${{ steps.l.outputs.l }}", steps: { m: { run: 'true' }, \(member) } }
            """)
        try await test.run("workflow.yml", "-n").expect(exit: 0)
        try await test.run("workflow.yml").expect(exit: 0)
        try await test.run("workflow.yml", "--resume", "-n").expect(exit: 0)
        try await test.run("show", "workflow.yml", "f").expect(exit: 0)
    }
}
