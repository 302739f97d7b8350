import FlowrunTestSupport
import Foundation
import Testing

/// A workflow whose values are all known before the run, and the words behind its name.
struct MicroWorkflow: Sendable, CustomTestStringConvertible {
    let lines: String
    let words: [String]
    let environment: [String: String]

    init(_ lines: String, _ words: [String] = [], environment: [String: String] = [:]) {
        self.lines = lines
        self.words = words
        self.environment = environment
    }

    var testDescription: String { lines }

    static let all: [MicroWorkflow] = [
        // Scripts and lists.
        MicroWorkflow("steps: { a: { run: tool } }"),
        MicroWorkflow("steps: { a: { run: \"tool one\\ntool two\\n\" } }"),
        MicroWorkflow("steps: { a: { run: \"\\n  tool 'it''s'\\n\\n# not a comment of ours\\n\\ttool\\n\" } }"),
        MicroWorkflow("steps: { a: { run: [tool, a b, \"it's\", '', '*', '$HOME', \"two\\nlines\", '#x', 'ü'] } }"),
        MicroWorkflow("steps: { a: { run: ['sub/tool', x] } }"),
        MicroWorkflow("steps: { a: { run: 'tool \"$@\"' } }", ["a", "--", "x", "y z", ""]),
        MicroWorkflow("steps: { a: { run: [tool, '${{ args }}', end] } }", ["--", "x", "y z"]),
        MicroWorkflow("steps: { a: { run: [tool, '${{ args }}', end] } }"),
        MicroWorkflow("steps: { a: { run: \"#!sub/tool -x y\\nfirst line\\n\" } }"),
        // Shells.
        MicroWorkflow("steps: { a: { shell: sh, run: tool } }"),
        MicroWorkflow("steps: { a: { shell: interp, run: 'print(1)' } }"),
        MicroWorkflow("steps: { a: { shell: [interp, -u, '-c x'], run: 'print(1)' } }"),
        MicroWorkflow("{ defaults: { shell: sh }, steps: { a: { run: tool }, b: { shell: bash, run: tool } } }"),
        MicroWorkflow("steps: { g: { shell: sh, steps: { a: { run: tool }, b: { shell: interp, run: x } } } }"),
        MicroWorkflow("steps: { a: { run: tool x } }", ["--trace"]),
        // Folders.
        MicroWorkflow("steps: { a: { working-directory: sub, run: [tool] } }"),
        MicroWorkflow(
            """
            { defaults: { working-directory: sub }, steps: { a: { run: tool }, b: { \
            working-directory: ., run: x } } }
            """),
        MicroWorkflow(
            """
            steps: { g: { working-directory: sub, steps: { a: { run: tool }, b: { working-directory: \
            ., run: x } } } }
            """),
        MicroWorkflow(
            """
            { params: { where: { default: sub } }, steps: { a: { working-directory: '${{ params.where \
            }}', run: x } } }
            """),
        // Environment.
        MicroWorkflow(
            """
            { env: { A: '1', B: 'x y' }, steps: { a: { env: { B: '2', C: "l1\\nl2" }, run: tool }, \
            b: { run: [tool] } } }
            """),
        MicroWorkflow("{ env: { A: '1' }, steps: { a: { env: { A: null, FROM_OUTSIDE: null }, run: tool } } }"),
        MicroWorkflow(
            "steps: { g: { env: { A: '1' }, steps: { a: { env: { B: \"${{ env.HOME ?? '' }}\" }, run: tool } } } }"),
        MicroWorkflow("{ env: { A: '1' }, steps: { a: { env-policy: clean, env: { B: '2' }, run: tool } } }"),
        MicroWorkflow(
            """
            { env-policy: clean, env: { A: '1' }, steps: { a: { run: tool }, b: { env-policy: \
            inherit, run: tool } } }
            """),
        MicroWorkflow("steps: { a: { run: tool } }", ["--env", "A=1", "--env", "FROM_OUTSIDE=2"]),
        MicroWorkflow(
            "{ dotenv: top.env, steps: { a: { dotenv: [top.env, step.env], run: tool }, b: { run: tool } } }"),
        // Parameters.
        MicroWorkflow("{ params: { p: { default: x } }, steps: { a: { run: [tool, '${{ params.p }}'] } } }"),
        MicroWorkflow(
            """
            { params: { p: { default: x } }, steps: { a: { run: [tool, '-${{ params.p }}-'] } } }
            """, ["--param", "p=y z"]),
        MicroWorkflow(
            "{ params: { p: { type: list, default: [a, b] } }, steps: { a: { run: [tool, '${{ params.p }}'] } } }"),
        MicroWorkflow(
            """
            { params: { p: { type: int } }, steps: { a: { if: params.p > 1, run: x }, b: { if: \
            params.p < 1, run: y } } }
            """, ["--param", "p=2"]),
        MicroWorkflow("{ params: { p: { required: true, env: FROM_OUTSIDE } }, steps: { a: { run: 'tool $p' } } }"),
        // `vars`.
        MicroWorkflow(
            "{ vars: { v: x y, l: [a, b] }, steps: { a: { run: [tool, '${{ vars.v }}', '${{ vars.l }}'] } } }"),
        MicroWorkflow(
            "{ params: { p: { default: q } }, vars: { v: 'x-${{ params.p }}' }, steps: { a: { run: 'tool $v' } } }"),
        MicroWorkflow("steps: { g: { vars: { v: '1' }, steps: { a: { env: { W: '${{ vars.v }}' }, run: tool } } } }"),
        // Fan-outs.
        MicroWorkflow("steps: { a: { for-each: [x, y z, '3.10'], run: [tool, '${{ item }}'] } }"),
        MicroWorkflow("steps: { a: { matrix: { os: [l, m], v: ['1', '2'] }, run: 'tool $os $v' } }"),
        MicroWorkflow(
            """
            steps: { a: { matrix: { os: [l, m], exclude: [{ os: m }], include: [{ os: w, x: '1' }] }, \
            run: 'tool $os' } }
            """),
        MicroWorkflow(
            """
            { params: { p: { type: list, default: [b, a] } }, steps: { a: { for-each: '${{ params.p \
            }}', as: n, run: [tool, '${{ n }}'] } } }
            """),
        MicroWorkflow(
            """
            steps: { g: { for-each: [x, y], steps: { a: { run: 'tool $item' }, b: { needs: [a], run: \
            [tool, '${{ item }}'] } } } }
            """),
        MicroWorkflow("steps: { a: { for-each: \"${{ glob('*.env') }}\", run: [tool, '${{ item }}'] } }"),
        MicroWorkflow("steps: { a: { for-each: [x, y], if: item == 'y', run: [tool, '${{ item }}'] } }"),
        // Order, hooks, conditions, chosen steps.
        MicroWorkflow("steps: { c: { needs: [b], run: tool }, b: { needs: [a], run: tool }, a: { run: tool } }"),
        MicroWorkflow(
            """
            steps: { g: { needs: [h], steps: { b: { needs: [a], run: x }, a: { run: y } }, finally: { \
            c: { run: z } } }, h: { run: x } }
            """),
        MicroWorkflow("{ order: sequence, steps: { b: { run: x }, a: { run: y } }, finally: { f: { run: z } } }"),
        MicroWorkflow("steps: { a: { run: x }, b: { manual: true, run: y }, c: { if: \"false\", run: z } }"),
        MicroWorkflow("steps: { a: { run: x }, b: { needs: [a], run: y }, c: { run: z } }", ["b"]),
        MicroWorkflow("steps: { a: { platforms: [windows], run: x }, b: { platforms: [linux], run: y } }"),
        // Used bodies.
        MicroWorkflow(
            """
            { templates: { t: { params: { p: { default: d } }, env: { E: '${{ params.p }}' }, steps: \
            { s: { run: [tool, '${{ params.p }}'] } } } }, steps: { a: { uses: t }, b: { uses: t, \
            with: { p: e f } } } }
            """),
        MicroWorkflow("steps: { a: { uses: sub/used.yml, with: { q: x y } } }"),
        // Standard input and secrets.
        MicroWorkflow("steps: { a: { stdin: \"one\\ntwo\\n\", run: [tool] } }"),
        MicroWorkflow("{ params: { p: { default: v } }, steps: { a: { stdin: 'p=${{ params.p }}', run: tool } } }"),
        MicroWorkflow(
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

    /// Makes a folder with the workflow, whose programs note what they get, and the environment to run it in.
    func make() throws -> (FlowrunTest, environment: [String: String?]) {
        let inner = lines.hasPrefix("{") ? String(lines.dropFirst().dropLast()) : lines
        let body = lines.hasPrefix("{") ? "{ version: 1, \(inner) }" : "version: 1\n\(inner)"
        let test = try FlowrunTest(
            body,
            files: [
                "base.yml": "version: 1\nsteps: { base: { run: [tool] } }", "sub/used.yml": Self.used,
                "top.env": "T=1\nU=2\n", "step.env": "U='3 4'\n",
            ])
        try Self.addRecorders(to: test)
        return (test, ["PATH": "\(test.path("bin")):/usr/bin:/bin", "FROM_OUTSIDE": "o"])
    }

    /// Notes its words, folder, environment and standard input instead of doing anything.
    private static func addRecorders(to test: FlowrunTest) throws {
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

    /// The words that a recorder has noted, each with a zero byte behind it.
    static func words(_ bytes: String) -> [String] {
        bytes.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// The environment that a step's recorder has noted, without what a shell or flowrun sets for each process.
    static func variables(of step: String, in test: FlowrunTest) throws -> [String: String] {
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
}
