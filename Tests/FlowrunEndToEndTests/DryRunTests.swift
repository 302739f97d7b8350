import FlowrunTestSupport
import Foundation
import Testing

/// `--dry-run` prints the commands that a run starts: the words, folder, environment and standard input of each.
struct DryRunTests {
    /// A workflow whose values are all known before the run, and the words behind its name.
    struct Micro: Sendable, CustomTestStringConvertible {
        let lines: String
        let words: [String]
        let environment: [String: String]

        init(_ lines: String, _ words: [String] = [], environment: [String: String] = [:]) {
            self.lines = lines
            self.words = words
            self.environment = environment
        }

        var testDescription: String { lines }
    }

    private static let micros: [Micro] = [
        // Scripts and lists.
        Micro("steps: { a: { run: tool } }"),
        Micro("steps: { a: { run: \"tool one\\ntool two\\n\" } }"),
        Micro("steps: { a: { run: \"\\n  tool 'it''s'\\n\\n# not a comment of ours\\n\\ttool\\n\" } }"),
        Micro("steps: { a: { run: [tool, a b, \"it's\", '', '*', '$HOME', \"two\\nlines\", '#x', 'ü'] } }"),
        Micro("steps: { a: { run: ['sub/tool', x] } }"),
        Micro("steps: { a: { run: 'tool \"$@\"' } }", ["a", "--", "x", "y z", ""]),
        Micro("steps: { a: { run: [tool, '${{ args }}', end] } }", ["--", "x", "y z"]),
        Micro("steps: { a: { run: [tool, '${{ args }}', end] } }"),
        Micro("steps: { a: { run: \"#!sub/tool -x y\\nfirst line\\n\" } }"),
        // Shells.
        Micro("steps: { a: { shell: sh, run: tool } }"),
        Micro("steps: { a: { shell: interp, run: 'print(1)' } }"),
        Micro("steps: { a: { shell: [interp, -u, '-c x'], run: 'print(1)' } }"),
        Micro("{ defaults: { shell: sh }, steps: { a: { run: tool }, b: { shell: bash, run: tool } } }"),
        Micro("steps: { g: { shell: sh, steps: { a: { run: tool }, b: { shell: interp, run: x } } } }"),
        Micro("steps: { a: { run: tool x } }", ["--trace"]),
        // Folders.
        Micro("steps: { a: { working-directory: sub, run: [tool] } }"),
        Micro(
            """
            { defaults: { working-directory: sub }, steps: { a: { run: tool }, b: { \
            working-directory: ., run: x } } }
            """),
        Micro(
            """
            steps: { g: { working-directory: sub, steps: { a: { run: tool }, b: { working-directory: \
            ., run: x } } } }
            """),
        Micro(
            """
            { params: { where: { default: sub } }, steps: { a: { working-directory: '${{ params.where \
            }}', run: x } } }
            """),
        // Environment.
        Micro(
            """
            { env: { A: '1', B: 'x y' }, steps: { a: { env: { B: '2', C: "l1\\nl2" }, run: tool }, \
            b: { run: [tool] } } }
            """),
        Micro("{ env: { A: '1' }, steps: { a: { env: { A: null, FROM_OUTSIDE: null }, run: tool } } }"),
        Micro("steps: { g: { env: { A: '1' }, steps: { a: { env: { B: \"${{ env.HOME ?? '' }}\" }, run: tool } } } }"),
        Micro("{ env: { A: '1' }, steps: { a: { env-policy: clean, env: { B: '2' }, run: tool } } }"),
        Micro(
            """
            { env-policy: clean, env: { A: '1' }, steps: { a: { run: tool }, b: { env-policy: \
            inherit, run: tool } } }
            """),
        Micro("steps: { a: { run: tool } }", ["--env", "A=1", "--env", "FROM_OUTSIDE=2"]),
        Micro("{ dotenv: top.env, steps: { a: { dotenv: [top.env, step.env], run: tool }, b: { run: tool } } }"),
        // Parameters.
        Micro("{ params: { p: { default: x } }, steps: { a: { run: [tool, '${{ params.p }}'] } } }"),
        Micro(
            """
            { params: { p: { default: x } }, steps: { a: { run: [tool, '-${{ params.p }}-'] } } }
            """, ["--param", "p=y z"]),
        Micro("{ params: { p: { type: list, default: [a, b] } }, steps: { a: { run: [tool, '${{ params.p }}'] } } }"),
        Micro(
            """
            { params: { p: { type: int } }, steps: { a: { if: params.p > 1, run: x }, b: { if: \
            params.p < 1, run: y } } }
            """, ["--param", "p=2"]),
        Micro("{ params: { p: { required: true, env: FROM_OUTSIDE } }, steps: { a: { run: 'tool $p' } } }"),
        // `vars`.
        Micro("{ vars: { v: x y, l: [a, b] }, steps: { a: { run: [tool, '${{ vars.v }}', '${{ vars.l }}'] } } }"),
        Micro("{ params: { p: { default: q } }, vars: { v: 'x-${{ params.p }}' }, steps: { a: { run: 'tool $v' } } }"),
        Micro("steps: { g: { vars: { v: '1' }, steps: { a: { env: { W: '${{ vars.v }}' }, run: tool } } } }"),
        // Fan-outs.
        Micro("steps: { a: { for-each: [x, y z, '3.10'], run: [tool, '${{ item }}'] } }"),
        Micro("steps: { a: { matrix: { os: [l, m], v: ['1', '2'] }, run: 'tool $os $v' } }"),
        Micro(
            """
            steps: { a: { matrix: { os: [l, m], exclude: [{ os: m }], include: [{ os: w, x: '1' }] }, \
            run: 'tool $os' } }
            """),
        Micro(
            """
            { params: { p: { type: list, default: [b, a] } }, steps: { a: { for-each: '${{ params.p \
            }}', as: n, run: [tool, '${{ n }}'] } } }
            """),
        Micro(
            """
            steps: { g: { for-each: [x, y], steps: { a: { run: 'tool $item' }, b: { needs: [a], run: \
            [tool, '${{ item }}'] } } } }
            """),
        Micro("steps: { a: { for-each: \"${{ glob('*.env') }}\", run: [tool, '${{ item }}'] } }"),
        Micro("steps: { a: { for-each: [x, y], if: item == 'y', run: [tool, '${{ item }}'] } }"),
        // Order, hooks, conditions, chosen steps.
        Micro("steps: { c: { needs: [b], run: tool }, b: { needs: [a], run: tool }, a: { run: tool } }"),
        Micro(
            """
            steps: { g: { needs: [h], steps: { b: { needs: [a], run: x }, a: { run: y } }, finally: { \
            c: { run: z } } }, h: { run: x } }
            """),
        Micro("{ order: sequence, steps: { b: { run: x }, a: { run: y } }, finally: { f: { run: z } } }"),
        Micro("steps: { a: { run: x }, b: { manual: true, run: y }, c: { if: \"false\", run: z } }"),
        Micro("steps: { a: { run: x }, b: { needs: [a], run: y }, c: { run: z } }", ["b"]),
        Micro("steps: { a: { platforms: [windows], run: x }, b: { platforms: [linux], run: y } }"),
        // Used bodies.
        Micro(
            """
            { templates: { t: { params: { p: { default: d } }, env: { E: '${{ params.p }}' }, steps: \
            { s: { run: [tool, '${{ params.p }}'] } } } }, steps: { a: { uses: t }, b: { uses: t, \
            with: { p: e f } } } }
            """),
        Micro("steps: { a: { uses: sub/used.yml, with: { q: x y } } }"),
        // Standard input and secrets.
        Micro("steps: { a: { stdin: \"one\\ntwo\\n\", run: [tool] } }"),
        Micro("{ params: { p: { default: v } }, steps: { a: { stdin: 'p=${{ params.p }}', run: tool } } }"),
        Micro(
            """
            { secrets: { TOKEN: { env: MY_TOKEN } }, steps: { a: { secrets: [TOKEN], run: 'tool \
            $TOKEN' }, b: { run: tool } } }
            """, environment: ["MY_TOKEN": "very-secret"]),
    ]

    private static let used = """
        version: 1
        params: { q: { type: string } }
        defaults: { shell: sh }
        steps: { u: { run: 'tool $q' }, w: { run: [tool, "${{ params.q }}"] } }
        """

    /// Notes its words, folder, environment and standard input instead of doing anything.
    private func addRecorders(to test: FlowrunTest) throws {
        for name in ["bin/bash", "bin/sh", "bin/interp", "bin/tool", "sub/tool", "sub/sub/tool"] {
            try test.write(
                """
                #!/bin/bash
                out='\(test.folder)/records'/$FLOWRUN_STEP
                printf '%s\\0' "${0##*/}" "$@" > "$out.words"
                printf '%s' "$PWD" > "$out.folder"
                /usr/bin/env -0 > "$out.variables"
                /bin/cat > "$out.stdin"
                echo "$FLOWRUN_STEP" >> '\(test.folder)/order'

                """, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: test.path(name))
        }
        try FileManager.default.createDirectory(atPath: test.path("records"), withIntermediateDirectories: true)
    }

    private func words(_ bytes: String) -> [String] {
        bytes.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private func variables(_ step: String, _ test: FlowrunTest) throws -> [String: String] {
        var found: [String: String] = [:]
        for word in words(try test.contents(of: "records/\(step).variables")) {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            // Those that the shell or flowrun itself sets for each process.
            guard !name.hasPrefix("FLOWRUN_"), !["PWD", "OLDPWD", "SHLVL", "_", "BASH_ENV"].contains(name) else {
                continue
            }
            found[name] = String(parts[1])
        }
        return found
    }

    private static func changed(_ base: [String: String], _ changes: JSONValue?) -> [String: String] {
        var base = base
        for change in changes?.array ?? [] {
            base[change["name"]?.string ?? ""] = change["value"]?.string
        }
        return base
    }

    private static let clean = ["PATH", "HOME", "USER", "LANG", "TERM", "TMPDIR"]

    private func make(_ micro: Micro) throws -> (FlowrunTest, environment: [String: String?]) {
        let lines = micro.lines.hasPrefix("{") ? String(micro.lines.dropFirst().dropLast()) : micro.lines
        let body = micro.lines.hasPrefix("{") ? "{ version: 1, \(lines) }" : "version: 1\n\(lines)"
        let test = try FlowrunTest(
            body,
            files: [
                "base.yml": "version: 1\nsteps: { base: { run: [tool] } }", "sub/used.yml": Self.used,
                "top.env": "T=1\nU=2\n", "step.env": "U='3 4'\n",
            ])
        try addRecorders(to: test)
        return (test, ["PATH": "\(test.path("bin")):/usr/bin:/bin", "FROM_OUTSIDE": "o"])
    }

    @Test(arguments: micros)
    func `what it prints is what then runs`(micro: Micro) async throws {
        var (test, environment) = try make(micro)
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
        let base = try variables("base", test)
        for (index, step) in steps.enumerated() {
            let id = ids[index]
            let found = words(try test.contents(of: "records/\(id).words")).map { word in
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
            #expect(try variables(id, test) == expected, "\(id)")
            try await expectText(text.stdout, of: step, in: test, next: index + 1 < ids.count ? ids[index + 1] : nil)
        }
        try await expectLegalOrder(ids, micro, environment: environment, in: test)
    }

    @Test(
        arguments: micros.filter { micro in
            // `show` takes no such options, and copies over a list of files cannot be named.
            Set(micro.words).isDisjoint(with: ["--", "--env", "--trace"]) && !micro.lines.contains("glob(")
        })
    func `what show prints is sound, and runs as the step does`(micro: Micro) async throws {
        var (test, environment) = try make(micro)
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
                words(try test.contents(of: "records/\(copy).words")),
                words(try test.contents(of: "records/\(id).words"))
            )
            #expect(isInterpreted ? first.dropLast() == second.dropLast() : first == second, "\(id)")
            #expect(try variables(String(copy), test) == variables(id, test), "\(id)")
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

    /// What a step or a group around it needs comes before it, and hooks come last.
    private func expectLegalOrder(
        _ ids: [String], _ micro: Micro, environment: [String: String?], in test: FlowrunTest
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
        #expect(words(read.stdout) == step["arguments"]?.strings, "\(id)")
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
}
