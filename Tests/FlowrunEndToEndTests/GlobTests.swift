import FlowrunTestSupport
import Glibc
import Testing

/// `glob` and other values that expressions make.
struct GlobTests {
    @Test func `files are listed when the step starts, relative to the folder of the file`() async throws {
        let test = try FlowrunTest(files: [
            "in/flow.yml": """
            version: 1
            vars: { known: "${{ glob('src/*') }}" }
            steps:
              before: { run: [printf, "<%s>", "${{ vars.known }}", "${{ len(glob('src/*')) }}"] }
              make: { needs: [before], run: touch src/b.c src/d.h }
              each: { needs: [make], for-each: "${{ glob('src/**/*.c') }}", as: source, run: 'echo "$source"' }
              if: { needs: [make], if: "contains(glob('src/*'), 'src/b.c')", run: 'true' }
              after: { needs: [make], env: { F: "${{ join(glob('src/*'), ' ') }}" }, run: 'echo "$F / $known"' }
            """, "in/src/a.c": "", "in/src/deep/c.c": "",
        ])
        let result = try await test.run("in/flow.yml", "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "before") == "<src/a.c><1>")
        let copies = log.outcomes.keys.filter { $0.hasPrefix("each") }.map { log.output(of: $0) }
        #expect(copies.sorted() == ["src/a.c\n", "src/b.c\n", "src/deep/c.c\n"])
        #expect(log.outcomes["if"] == "success")
        #expect(log.output(of: "after") == "src/a.c src/b.c src/d.h / [\"src/a.c\"]\n")
        let plan = try await test.run("plan", "in/flow.yml")
        plan.expect(exit: 0)
        plan.expect(stdout: "each[*]: one for each of glob('src/**/*.c'), at most 1000\n")
    }

    @Test func `a folder that cannot be read fails what asks for it`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: [echo, \"${{ glob('\(String(repeating: "x", count: 300))') }}\"] } }")
        let log = try await test.runLogged().log()
        #expect(log.finished("a")?.cause?.message?.hasPrefix("`glob` cannot read `") == true)
        #expect(log.finished("a")?.cause?.kind == "expression")
    }

    @Test func `a file or folder is there when it is asked for, relative to the folder of the file that asks`()
        async throws
    {
        let test = try FlowrunTest(files: [
            "in/flow.yml": """
            version: 1
            steps:
              no: { if: "exists('src/b') || exists('src/*') || exists('src/link')", run: 'true' }
              make: { needs: [no], run: touch src/b }
              yes: { needs: [make], if: "exists('src/b') && exists('src') && exists('./src/../src/')", run: 'true' }
              part: { needs: [yes], uses: ./part/p.yml }
              absolute: { run: [echo, "${{ exists('/dev/null') }}"], outputs: {} }
            """,
            "in/part/p.yml": """
            version: 1
            steps: { own: { run: [echo, "${{ exists('mine') }} ${{ exists('src') }} ${{ exists('../src') }}"] } }
            """, "in/src/a": "", "in/part/mine": "",
        ])
        _ = test.path("in/src/link").withCString { symlink("nowhere", $0) }
        let log = try await test.run("in/flow.yml", "--log", "json").log()
        #expect(log.outcomes["no"] == "skipped")
        #expect(log.outcomes["yes"] == "success")
        #expect(log.output(of: "part.own") == "true false true\n")
        #expect(log.output(of: "absolute") == "true\n")
    }

    @Test func `texts are taken apart, and numbers make copies`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { hosts: { default: "a.B,c/d" }, n: { type: int, default: 3 } }
            steps:
              host: { for-each: "${{ split(params.hosts, ',') }}", run: [echo, "${{ upper(replace(item, '/', '-')) }}"] }
              shard: { for-each: "${{ range(1, params.n) }}", as: i, run: 'echo "$i"' }
              tag: { if: "matches(lower(params.hosts), '^a[.]b')", run: 'true' }
            """)
        let log = try await test.runLogged().log()
        #expect(log.output(of: "host[a.B]") == "A.B\n")
        #expect(log.output(of: "host[c/d]") == "C-D\n")
        #expect(log.output(of: "shard[1]") + log.output(of: "shard[2]") == "1\n2\n")
        #expect(log.outcomes["shard[3]"] == nil)
        #expect(log.outcomes["tag"] == "success")
    }

    @Test func `numbers in outputs stay as they are written`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              a:
                run: |
                  echo 'x={"v": 1.10, "big": 1e400, "id": 12345678901234567890}' >> "$FLOWRUN_OUTPUT"
                outputs: { x: json }
              b:
                needs: [a]
                if: steps.a.outputs.x.big > steps.a.outputs.x.id
                run: [echo, "${{ steps.a.outputs.x.v }} ${{ steps.a.outputs.x }}"]
            """#)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        #expect(result.stdout.contains(#""text":"1.10 {\"v\":1.10,\"big\":1e400,\"id\":12345678901234567890}"#))
        #expect(result.stdout.contains(#""outputs":{"x":{"v":1.10,"big":1e400,"id":12345678901234567890}}"#))
    }

    @Test func `one of two values, only that one evaluated, and defaults of another type`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { fast: { type: bool, default: false } }
            vars: { never: { run: touch ran } }
            steps:
              a: { run: [echo, "${{ if(params.fast, vars.never, '-O0') }}", "${{ env.NOPE ?? 5 }}"] }
              b: { for-each: "${{ if(params.fast, ['x'], ['x', 'y']) }}", run: 'true' }
            """)
        let log = try await test.runLogged().log()
        #expect(log.output(of: "a") == "-O0 5\n")
        #expect(log.outcomes.keys.sorted() == ["a", "b[x]", "b[y]"])
        #expect(!test.exists("ran"))
    }
}
