import FlowrunTestSupport
import Foundation
import Testing

/// `show` prints one step with all that it inherits, as a workflow.
struct ShowTests {
    @Test(
        arguments: MicroWorkflow.all.filter { micro in
            // `show` takes no such options, and copies over a list of files cannot be named.
            Set(micro.words).isDisjoint(with: ["--", "--env", "--trace"]) && !micro.lines.contains("glob(")
        })
    func `what show prints is sound, and runs as the step does`(micro: MicroWorkflow) async throws {
        var (test, environment) = try micro.make()
        for (name, value) in micro.environment { environment[name] = value }
        let listed = try await test.start(
            ["-f", "workflow.yml", "-n", "--format", "json"] + micro.words, environment: environment
        ).finish()
        let answer = try JSONDecoder().decode(JSONValue.self, from: Data(listed.stdout.utf8))
        try await test.start(["-f", "workflow.yml", "--no-journal"] + micro.words, environment: environment).finish()
            .expect(exit: 0)
        let given = micro.words.first == "--param" ? micro.words : []
        for step in try #require(answer["steps"]?.array) where step["skipped"]?.bool == false {
            let id = try #require(step["id"]?.string)
            let shown = try await test.start(["show", "-f", "workflow.yml", id] + given, environment: environment)
                .finish()
            shown.expect(exit: 0, stderr: "")
            try test.write(shown.stdout, to: "shown.yml")
            try await test.run("check", "--strict", "shown.yml").expect(exit: 0)
            try await test.run("-f", "shown.yml", "--no-journal", environment: environment).expect(exit: 0)
            let copy = try #require(test.contents(of: "order").split(separator: "\n").last)
            for kind in ["folder", "stdin"] {
                #expect(
                    try test.contents(of: "records/\(copy).\(kind)") == test.contents(of: "records/\(id).\(kind)"),
                    "\(id)")
            }
            let isInterpreted = step["script"]?.string?.hasPrefix("#!") == true
            let (first, second) = (
                MicroWorkflow.words(try test.contents(of: "records/\(copy).words")),
                MicroWorkflow.words(try test.contents(of: "records/\(id).words"))
            )
            #expect(isInterpreted ? first.dropLast() == second.dropLast() : first == second, "\(id)")
            #expect(
                try MicroWorkflow.variables(of: String(copy), in: test) == MicroWorkflow.variables(of: id, in: test),
                "\(id)")
            let json = try await test.start(
                ["show", "-f", "workflow.yml", id, "--format", "json"] + given, environment: environment
            ).finish()
            let file = try JSONDecoder().decode(JSONValue.self, from: Data(json.stdout.utf8))
            #expect(file["version"]?.int == 1 && file["steps"]?.object?.count == 1)
        }
    }

    @Test func `show names the places of what is inherited, and leaves out what only the whole file can mean`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            defaults: { timeout: 5m, retry: { attempts: 2, delay: 1s } }
            params: { p: { default: x } }
            pools: { mem: 4 }
            env: { A: one }
            steps:
              first: { run: x }
              g:
                shell: sh
                grace: 2s
                env: { B: two }
                needs: [first]
                outputs: { o: "${{ steps.s.outputs.v }}" }
                steps:
                  s:
                    matrix: { os: [linux] }
                    if: params.p == 'x'
                    needs: [t]
                    pool: { mem: 2 }
                    outputs: { v: { type: lines, from: stdout } }
                    run: |
                      echo "$os"
                      exit 0
                  t: { run: [echo, "${{ params.p }}"], mutex: m, continue-on-error: true }
            """)
        let shown = try await test.run("show", "-f", "workflow.yml", "g")
        shown.expect(exit: 0, stderr: "")
        #expect(
            shown.stdout == """
                # g, workflow.yml:8
                version: 1
                pools:
                  mem: 4
                steps:
                  # needs: first
                  g:
                    outputs:
                      o: ${{ steps.s.outputs.v }}
                    steps:
                      # if: params.p == 'x'
                      s:
                        needs: [t]
                        outputs:
                          v: ${{ [steps.s-linux.outputs.v] }}
                        steps:
                          s-linux:
                            env:
                              os: linux
                              # from the top of the file
                              A: one
                              # from g
                              B: two
                              # from `params`
                              p: x
                            # from g
                            shell: sh
                            run: |
                              echo "$os"
                              exit 0

                            outputs:
                              v: { type: lines, from: stdout }
                            # from `defaults`
                            timeout: 5m
                            # from `defaults`
                            retry: { attempts: 2, delay: 1s }
                            # from g
                            grace: 2s
                            pool: { mem: 2 }
                      t:
                        env:
                          # from the top of the file
                          A: one
                          # from g
                          B: two
                          # from `params`
                          p: x
                        run: [echo, x]
                        # from `defaults`
                        timeout: 5m
                        # from `defaults`
                        retry: { attempts: 2, delay: 1s }
                        continue-on-error: true
                        mutex: [m]
                        # from g
                        grace: 2s

                """)
        for (words, message) in [
            (["nothing"], "no step or group `nothing`"), ([], "`show` needs a STEP"),
            (["g", "first"], "`show` takes one STEP"),
        ] {
            let wrong = try await test.start(["show", "-f", "workflow.yml"] + words).finish()
            wrong.expect(exit: 64, stdout: "")
            wrong.expect(stderr: message)
        }
    }

    @Test func `copies whose values differ only in what no id may have keep apart`() async throws {
        let long = String(repeating: "x", count: 64)
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              f:
                for-each: [a/b, a.b, a.b.2, é]
                outputs: { o: { type: string, from: stdout } }
                run: [echo, "${{ item }}"]
              g:
                steps:
                  \(long):
                    matrix: { x: [\(long), y], y: [\(long), z] }
                    run: [echo, "${{ x }}${{ y }}"]
            """)
        for (step, printed) in [("f", ["a.b", "a.b.2", "a/b", "é"]), ("g", ["x", "xz", "yx", "yz"])] {
            let shown = try await test.run("show", "-f", "workflow.yml", step)
            shown.expect(exit: 0, stderr: "")
            try test.write(shown.stdout, to: "shown.yml")
            try await test.run("check", "--strict", "shown.yml").expect(exit: 0)
            let result = try await test.run("shown.yml", "--log", "json")
            result.expect(exit: 0)
            let log = try result.log()
            let texts = log.outcomes.keys.map { String(log.output(of: $0).dropLast()) }.filter { !$0.isEmpty }
            #expect(texts.map { $0.replacing(/x{64,}/, with: "x") }.sorted() == printed)
        }
        let names = try await test.run("show", "-f", "workflow.yml", "f").stdout.matches(of: /(?m)^ +(f-.*):$/)
        #expect(names.map { String($0.1) } == ["f-a-b", "f-a-b-2", "f-a-b-2-2", "f---"])
    }

    @Test func `its JSON is a workflow, too, with numbers that have decimals`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { a: { retry: { attempts: 3, delay: 1s, backoff: 1.5, jitter: 0.25 }, run: 'true' } }
            """)
        let shown = try await test.ask("show", "-f", "workflow.yml", "a", "--format", "json")
        #expect(shown.stdout.contains(#""backoff":1.5"#) && shown.stdout.contains(#""jitter":0.25"#))
        try test.write(shown.stdout, to: "shown.yml")
        try await test.run("check", "shown.yml").expect(exit: 0)
    }
}
