import FlowrunTestSupport
import Testing

/// Copies by their names, and conditions of their own.
struct `A copy of a fan-out` {
    @Test func `is chosen by its name`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { targets: { type: list, default: [windows/amd64, linux/arm64] } }
            steps:
              test: { matrix: { os: [linux, macos], py: [3.9, 3.10] }, run: 'echo "$os $py"' }
              build: { for-each: "${{ params.targets }}", run: 'echo "$item"' }
              group: { for-each: [a, b], label: "the-${{ item }}", steps: { s: { run: 'echo "$item"' } } }
            """)
        #expect(try await test.runLogged("test[linux,3.9]").log().startOrder == ["test[linux,3.9]"])
        #expect(try await test.runLogged("group[the-b].s").log().output(of: "group[the-b].s") == "b\n")
        // A slash in the brackets does not make it a file, though the file is not named.
        try await test.run("-f", "workflow.yml", "build[windows/amd64]").expect(stdout: "| windows/amd64")
        try test.write(test.contents(of: "workflow.yml"), to: "flowrun.yml")
        try await test.run("build[windows/amd64]").expect(stdout: "| windows/amd64")
        let near = try await test.run("test[linux,3.8]")
        near.expect(exit: 64)
        near.expect(stderr: "no step or group `test[linux,3.8]`; did you mean `test[linux,3.9]`?")
        let far = try await test.run("build[plan9]")
        far.expect(exit: 64)
        far.expect(stderr: "`build` has no copy `build[plan9]`: it has build[windows/amd64], build[linux/arm64]")
        try await test.run("build[b]", "--param", "targets=a,b", "-n").expect(stdout: "1 step", "build[b]")
    }

    @Test func `has an item where the matrix has only what include says`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            steps:
              t: { matrix: { include: [{ os: linux, cc: gcc }, { os: macos, cc: clang }] }, run: 'echo "$os"' }
            """
        ).runLogged().log()
        #expect(log.finished("t[linux,gcc]")?["item"]?.string == "linux,gcc")
        #expect(log.finished("t[macos,clang]")?["item"]?.string == "macos,clang")
    }

    @Test func `shows its values beside a number`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              say: { for-each: [a b, c], run: 'test "$item" = c' }
            """)
        try await test.run("workflow.yml").expect(
            stdout: "say[0] (a b)  exit 1", "1 error:", "say[0] (a b): exit 1")
        try await test.run("plan", "workflow.yml").expect(stdout: "say[0] (a b)", "say[c]")
        try await test.run("list", "workflow.yml").expect(stdout: "say", "[0] (a b)", "[c]")
        try await test.run("why", "workflow.yml", "say[0]").expect(stdout: "say[0] (a b)")
    }

    @Test func `has an if of its own where that reads the copy's variable`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { all: { type: bool, default: false } }
            steps:
              bad: { run: 'false' }
              each: { for-each: [a, b, c], if: params.all || item != 'b', run: 'echo "$item"' }
              behind: { needs: { each: success }, run: [echo, "${{ join(steps.each.items.*.outcome, ' ') }}"] }
              matrix:
                matrix: { os: [linux, macos], v: [1, 2] }
                if: os == 'linux' || v == '2'
                steps: { s: { run: 'true' } }
              after: { needs: [bad], for-each: [x, y], if: always() && item == 'x', run: 'true' }
              never: { needs: [bad], for-each: [x, y], if: success() && item == 'x', run: 'true' }
              last: { needs: [never], run: 'true' }
            """)
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.outcomes["each[a]"] == "success" && log.outcomes["each[b]"] == "skipped")
        #expect(log.finished("each[b]")?.cause?.message == "`if: params.all || item != 'b'` is false")
        #expect(log.output(of: "behind") == "success skipped success\n")
        #expect(log.outcomes["matrix[macos,1].s"] == "skipped" && log.outcomes["matrix[macos,2].s"] == "success")
        #expect(log.outcomes["after[x]"] == "success" && log.outcomes["after[y]"] == "skipped")
        #expect(log.outcomes["never[x]"] == "not-run" && log.outcomes["never[y]"] == "not-run")
        #expect(log.outcomes["last"] == "not-run")
        let all = try await test.runLogged("each", "--param", "all=true").log()
        #expect(all.outcomes["each[b]"] == "success")
    }
}
