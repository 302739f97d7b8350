import FlowrunTestSupport
import Synchronization
import Syntax
import Testing
import Workflow

struct `A body that is used` {
    /// A workflow with the files around it.
    private func read(_ text: String, _ files: [String: String] = [:]) -> (MarkedText, Workflow?, [Diagnostic]) {
        let marked = MarkedText(text, name: "main.yml")
        let found = WorkflowFiles(identity: { "main.yml" }) { path in
            if path == "main.yml" { return .found(identity: path, name: path, bytes: marked.file.bytes) }
            guard let text = files[path] else { return .unreadable("there is no such file") }
            return text == "outside" ? .outside : .found(identity: path, name: path, bytes: Array(text.utf8))
        }
        let (workflow, findings) = WorkflowDecoder.read(marked.file, files: found)
        return (marked, workflow, workflow?.explained(findings) ?? findings)
    }

    /// `FILE:LINE CODE MESSAGE` of each finding.
    private func lines(of findings: [Diagnostic]) -> [String] {
        findings.sortedByPlace().map { finding in
            let line = finding.file.line(at: finding.range.lowerOffset)
            return "\(finding.file.name):\(line) \(finding.code.rawValue) \(finding.message)"
        }
    }

    private static let build = """
        version: 1
        description: Builds it.
        params: { target: { required: true }, jobs: { type: int, default: 2 } }
        env: { LEVEL: 1 }
        timeout: 5m
        order: sequence
        outputs: { size: "${{ steps.compile.outputs.size }}" }
        default: [compile]
        steps:
          compile: { run: make, outputs: { size: int } }
          pack: { steps: { tar: { run: tar } } }
        finally: { clean: { run: rm x } }
        """

    @Test func `a file's steps are the group's members, in the order of the rows`() throws {
        let (_, found, findings) = read(
            """
            version: 1
            steps:
              first: { run: x }
              build: { needs: [first], uses: ci/build.yml, with: { target: a }, timeout: 1m, env: { X: y } }
              last: { run: x }
            """, ["ci/build.yml": Self.build])
        #expect(findings.allSatisfy { $0.severity == .note })
        let workflow = try #require(found)
        let paths = workflow.nodes.indices.dropFirst().map { workflow.path(of: NodeIndex($0)) }
        #expect(
            paths == [
                "first", "build", "build.compile", "build.pack", "build.pack.tar", "build.finally",
                "build.finally.clean", "last",
            ])
        let group = try #require(workflow.uses.first?.group)
        #expect(workflow.path(of: group) == "build")
        #expect(workflow[group].isUse && workflow[group].subtreeEnd == 8)
        let settings = try #require(workflow.settings(of: group))
        #expect(settings.timeout?.duration == .seconds(60))
        #expect(settings.isSequence && settings.description == "Builds it." && settings.outputs.map(\.name) == ["size"])
        #expect(settings.env.map(\.name) == ["X"])
        let use = workflow.uses[0]
        #expect(use.folder == "ci" && use.settings?.env.map(\.name) == ["LEVEL"])
        #expect(use.parameters.map(\.name) == ["target", "jobs"])
        // What `default` leaves out is manual.
        #expect(workflow.settings(of: NodeIndex(4))?.isManual == true)
        #expect(workflow.settings(of: NodeIndex(3))?.isManual == false)
        #expect(workflow.settings(of: NodeIndex(6))?.isManual != true)
        #expect(workflow.file.text(in: workflow.range(of: NodeIndex(3))) == "compile")
        #expect(workflow.use(around: NodeIndex(5))?.group == group)
        #expect(workflow.use(around: group) == nil && workflow.use(around: group, isInside: true)?.group == group)
        #expect(workflow.use(around: NodeIndex(8)) == nil)
    }

    @Test func `a file is read once, however often it is used`() {
        final class Reads: Sendable {
            let paths = Mutex<[String]>([])
        }
        let reads = Reads()
        let files = WorkflowFiles(identity: { "main.yml" }) { path in
            reads.paths.withLock { $0.append(path) }
            let text = "version: 1\nsteps: { s: { run: x } }\n"
            return .found(identity: "b", name: path, bytes: Array(text.utf8))
        }
        let groups = (0..<100).map { "  g\($0): { uses: ./ci/../b.yml }\n" }.joined()
        let (workflow, findings) = WorkflowDecoder.read(
            SourceFile(name: "main.yml", text: "version: 1\nsteps:\n\(groups)"), files: files)
        #expect(findings.isEmpty && workflow?.uses.count == 100)
        #expect(reads.paths.withLock { $0 } == ["b.yml"])
    }

    @Test func `a finding in a file stands there once, and tells who uses it`() {
        let (_, _, findings) = read(
            """
            version: 1
            steps:
              a: { uses: x.yml }
              b: { uses: x.yml }
              c: { uses: sub/y.yml }
            """,
            [
                "x.yml": "version: 1\nsteps:\n  a: { rn: x }\n",
                "sub/y.yml": "version: 1\nsteps:\n  d: { uses: z.yml }\n",
                "sub/z.yml": "version: 1\nsteps:\n  e: { run: x, timeout: 5 }\n",
            ])
        #expect(
            lines(of: findings) == [
                "x.yml:3 FR0201 unknown key `rn` in a step", "sub/z.yml:3 FR0206 `timeout` needs a unit, found `5`",
            ])
        let notes = findings.sortedByPlace().map { finding in
            finding.notes.map { note in
                let range = note.range ?? .beginning
                let file = finding.file(of: range)
                return "\(file.name):\(file.line(at: range.lowerOffset)) \(note.message)"
            }
        }
        #expect(notes[0] == ["main.yml:3 `x.yml` is used here, by `a`"])
        #expect(
            notes[1] == [
                "sub/y.yml:3 `sub/z.yml` is used here, by `c.d`", "main.yml:5 `sub/y.yml` is used here, by `c`",
            ])
    }

    @Test func `a file that cannot be used is refused with the reason`() {
        let (marked, _, findings) = read(
            """
            version: 1
            steps:
              a: { uses: 1️⃣missing.yml }
              b: { uses: 2️⃣/abs.yml }
              c: { uses: 3️⃣../out.yml }
              d: { uses: 4️⃣actions/checkout@v4 }
              e: { uses: 5️⃣main.yml }
              f: { uses: bad.yml }
            """, ["../out.yml": "outside", "bad.yml": "version: 1\nsteps: {a: [\n"])
        let summary = marked.summary(of: findings)
        #expect(
            summary.prefix(5) == [
                "1️⃣ FR0224 cannot use `missing.yml`: there is no such file",
                "2️⃣ FR0224 `uses` takes a path that is relative to the file, found `/abs.yml`",
                "3️⃣ FR0224 `../out.yml` is outside of the folder of `main.yml`",
                "4️⃣ FR0224 cannot use `actions/checkout@v4`: there is no such file",
                "5️⃣ FR0303 files or templates that use each other: `main.yml` uses `main.yml`",
            ])
        #expect(lines(of: findings).last?.hasPrefix("bad.yml:2 FR0105 ") == true)
        #expect(findings[3].fix?.description == "flowrun has no actions; write the commands under `run`")
    }

    @Test func `a ring of files is shown with every hop`() {
        let (_, _, findings) = read(
            "version: 1\nsteps:\n  a: { uses: x.yml }\n",
            [
                "x.yml": "version: 1\nsteps:\n  b: { uses: y.yml }\n",
                "y.yml": "version: 1\nsteps:\n  c: { uses: x.yml }\n  d: { uses: main.yml }\n",
            ])
        #expect(
            lines(of: findings) == [
                "y.yml:3 FR0303 files or templates that use each other: `x.yml` uses `y.yml` uses `x.yml`",
                "y.yml:4 FR0303 files or templates that use each other: `main.yml` uses `x.yml` uses `y.yml` uses `main.yml`",
            ])
    }

    @Test func `a template is read where it stands, used or not`() {
        let (marked, found, findings) = read(
            """
            version: 1
            templates:
              good: { params: { p: { default: a } }, steps: { b: { run: x } } }
              1️⃣spare: { steps: { b: { run: x, 2️⃣tmeout: 5m } } }
              3️⃣none: { params: {} }
              ring: { steps: { b: { uses: other } } }
              other: { steps: { b: { uses: 4️⃣ring } } }
            steps:
              a: { uses: good }
              b: { uses: good, with: { p: x }, for-each: [p, q] }
              c: { uses: none }
              d: { uses: other }
              e: { uses: 5️⃣god }
            """)
        #expect(
            marked.summary(of: findings) == [
                "1️⃣ FR0226? no group uses the template `spare`", "2️⃣ FR0201 unknown key `tmeout` in a step",
                "3️⃣ FR0204 the template `none` has no `steps`",
                "4️⃣ FR0303 files or templates that use each other: `ring` uses `other` uses `ring`",
                "5️⃣ FR0225 there is no template `god` in this file",
            ])
        #expect(found?.nodes.map(\.id).prefix(5) == ["", "a", "b", "b", "b"])
    }

    @Test func `what with gives is held against the parameters`() {
        let (marked, _, findings) = read(
            """
            version: 1
            templates:
              t:
                params:
                  n: { type: int, required: true }
                  list: { type: list, default: [] }
                  word: { type: enum, values: [a, b], default: a }
                steps: { s: { run: x } }
            steps:
              a: { uses: t, with: { n: 1, list: [x, "${{ run.id }}"], word: b } }
              b: { uses: t, with: { n: 1️⃣many, 2️⃣wrod: a } }
              c: { uses: 3️⃣t }
              d: { uses: t, 4️⃣with: { list: [x] } }
              e: { uses: t, with: { n: 1, word: 5️⃣[a] } }
              f: { run: x, 6️⃣with: { n: 1 } }
              g: { uses: t, with: { n: 1, word: 7️⃣c }, 8️⃣run: x }
            """)
        #expect(
            marked.summary(of: findings) == [
                "1️⃣ FR0227 `n` of `t`: expected a whole number in decimal digits, such as 12 or -3, found `many`",
                "2️⃣ FR0227 `t` has no parameter `wrod`",
                "3️⃣ FR0227 `t` needs `n`, and `with` does not give it",
                "4️⃣ FR0227 `t` needs `n`, and `with` does not give it",
                "5️⃣ FR0227 `word` of `t`: expected `a` or `b`, found a list", "6️⃣ FR0201 `with` is not a key of a step",
                "7️⃣ FR0227 `word` of `t`: expected `a` or `b`, found `c`",
                "8️⃣ FR0201 `run` is not a key of a group with `uses`",
            ])
        #expect(marked.applyingFixes(of: findings).contains("{ n: many, word: a }"))
    }

    @Test func `with gives a list parameter a list, and a value that is wrong is found once`() {
        let (marked, _, findings) = read(
            """
            version: 1
            templates:
              t:
                params: { n: { required: true }, list: { type: list, default: [] } }
                steps: { s: { run: x } }
            steps:
              a: { uses: t, with: { n: a, list: 1️⃣"a b" } }
              b: { uses: t, with: { n: a, list: 2️⃣"a, b" } }
              c: { uses: t, with: { n: a, list: 3️⃣'["a"]' } }
              d: { uses: t, with: { n: a, list: 4️⃣"${{ run.id }}x" } }
              e: { uses: t, with: { n: 5️⃣null } }
              f: { uses: t, with: { n: a, list: "${{ params.list }}" } }
            """)
        let wrong = "FR0227 `list` of `t`: expected a list, found a text"
        #expect(
            marked.summary(of: findings) == [
                "1️⃣ \(wrong)", "2️⃣ \(wrong)", "3️⃣ \(wrong)", "4️⃣ \(wrong)",
                "5️⃣ FR0205 `n` takes a text, a number, a list or an expression, found null",
            ])
        let fixed = marked.applyingFixes(of: findings)
        for list in [#"list: ["a b"]"#, #"list: ["a", "b"]"#, #"list: ["a"]"#] { #expect(fixed.contains(list)) }
    }

    @Test func `names are the run's: pools and secrets of one name have to agree`() {
        let (marked, found, findings) = read(
            """
            version: 1
            pools: { net: 2 }
            secrets: { TOKEN: { env: A } }
            steps:
              a: { uses: x.yml }
              b: { run: x, pool: net }
            """,
            [
                "x.yml": """
                version: 1
                pools: { net: 3, disk: 1 }
                secrets: { TOKEN: { env: B }, KEY: { file: key } }
                steps: { s: { run: x, pool: { net: 1, disk: 1 }, secrets: [KEY] } }
                """
            ])
        #expect(
            lines(of: findings) == [
                "x.yml:2 FR0209 the pool `net` has another size in another file",
                "x.yml:3 FR0209 the secret `TOKEN` comes from another place in another file",
            ])
        #expect(found?.pools.map(\.name) == ["net", "disk"] && found?.secrets.map(\.name) == ["TOKEN", "KEY"])
        #expect(marked.summary(of: findings).count == 2)
    }

    @Test func `uses that multiply are refused before they fill the memory`() {
        var templates = "  t0: { steps: { s: { run: x } } }\n"
        for level in 1...30 {
            templates += "  t\(level): { steps: { a: { uses: t\(level - 1) }, b: { uses: t\(level - 1) } } }\n"
        }
        let (_, _, findings) = read("version: 1\ntemplates:\n\(templates)steps:\n  a: { uses: t30 }\n")
        #expect(findings.map(\.code) == [.fanOutTooLarge])
    }
}
