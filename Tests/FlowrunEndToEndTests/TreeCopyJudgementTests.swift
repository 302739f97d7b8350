import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A resume takes only that copy of the tree for the group's own in which its steps ran.
struct TreeCopyJudgementTests {
    @Test func `copies of a fan-out that only the run knows are not taken from another copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: 'echo items=[\\"1\\",\\"2\\"] >> $FLOWRUN_OUTPUT', outputs: { items: list } }
              g:
                needs: [list]
                isolate: copy
                steps:
                  w: { run: 'touch "$FLOWRUN_INVOCATION_DIR/begun"; test "$CODE" = 0' }
                  f: { for-each: "${{ steps.list.outputs.items }}", as: v, steps: { z: { run: eval "$MAKE" } } }
                  check: { needs: [f, w], run: "echo f*" }
            """)
        let made = ["MAKE": "touch f$v"]
        try await test.run("workflow.yml", environment: ["CODE": "1"].merging(made) { $1 }).expect(exit: 1)
        let copies = test.path(".flowrun/trees")
        for run in try FileManager.default.contentsOfDirectory(atPath: copies) {
            try FileManager.default.removeItem(atPath: "\(copies)/\(run)/g")
        }
        // In the new copy nothing of the fan-out succeeds.
        try await test.run("workflow.yml", "--resume", environment: ["CODE": "1", "MAKE": "exit 1"]).expect(exit: 1)
        let result = try await test.runLogged("--resume", environment: ["CODE": "0"].merging(made) { $1 })
        result.expect(exit: 0)
        #expect(try result.log().output(of: "g.check") == "f1 f2\n")
    }

    @Test func `a copy whose tree was removed is no copy`() async throws {
        let test = try FlowrunTest(KeptTreeTests.failing)
        try await test.run("workflow.yml").expect(exit: 1)
        let copies = test.path(".flowrun/trees")
        for run in try FileManager.default.contentsOfDirectory(atPath: copies) {
            try FileManager.default.removeItem(atPath: "\(copies)/\(run)/g/tree")
        }
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions == ["before": "restored", "g.one": "tree", "g.two": "outcome"])
    }

    @Test func `a dry run of a resume leaves the copies as they are`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps:
                  a: { run: "true" }
                  c: { if: "exists('workflow.yml')", run: "true" }
                  z: { needs: [a], run: "false" }
              other: { manual: true, run: "true" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try await test.run("workflow.yml", "--resume", "-n").expect(exit: 0)
        try await test.run("workflow.yml", "other").expect(exit: 0)
        let result = try await test.runLogged("--resume")
        #expect(try result.log().decisions == ["g.a": "restored", "g.c": "restored", "g.z": "outcome"])
    }

    @Test func `a copy that is being removed is no copy`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                steps:
                  a: { run: "touch a" }
                  z: { needs: [a], run: "test -e a && test -e $TOP/ok" }
            """)
        let top = ["TOP": test.folder]
        try await test.run("workflow.yml", environment: top).expect(exit: 1)
        let run = try #require(FileManager.default.contentsOfDirectory(atPath: test.path(".flowrun/trees")).first)
        // Nothing can be removed, as if it took long.
        try test.write("#!/bin/sh\nkill -9 $PPID\n", to: "bin/rm")
        chmod(test.path("bin/rm"), 0o755)
        let path = "\(test.path("bin")):/usr/bin:/bin"
        let killed = try await test.run(
            "workflow.yml", "--resume", "--from", "g", environment: top.merging(["PATH": path]) { $1 })
        killed.expect(exit: 1)
        try test.write("", to: "ok")
        #expect(!test.exists(".flowrun/trees/\(run)/g"))
        let result = try await test.runLogged("--resume", environment: top)
        result.expect(exit: 0)
        #expect(try result.log().decisions["g.a"] != "restored")
    }

    @Test func `a step runs again where its copy is that of another group now`() async throws {
        let text = """
            version: 1
            steps:
              outer:
                isolate: copy
                steps:
                  inner: { isolate: copy, steps: { a: { run: "touch a" } } }
                  b: { needs: [inner], run: "ls; false" }
            """
        let test = try FlowrunTest(text)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write(text.replacing("{ isolate: copy, steps", with: "{ steps"), to: "workflow.yml")
        let result = try await test.runLogged("--resume")
        #expect(try result.log().decisions["outer.inner.a"] == "definition")
        #expect(try result.log().output(of: "outer.b") == "a\nworkflow.yml\n")
    }

    @Test func `outputs that read what a command prints are not made from the tree`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              g:
                isolate: copy
                vars: { v: { run: "touch made; ls | tr '\\n' ' '" } }
                steps: { a: { run: "touch app" } }
                outputs: { v: "${{ vars.v }}" }
              z: { needs: [g], env: { V: "${{ steps.g.outputs.v }}" }, run: "echo $V; test -e ok" }
            """)
        try await test.run("workflow.yml").expect(exit: 1)
        try test.write("", to: "ok")
        let result = try await test.runLogged("--resume")
        result.expect(exit: 0)
        #expect(try result.log().decisions["g.a"] == "tree")
        #expect(try result.log().output(of: "z").contains("app"))
        #expect(!test.exists("made"))
    }

    @Test func `in a project that has moved the group begins again`() async throws {
        let test = try FlowrunTest(files: ["old/workflow.yml": KeptTreeTests.failing, "old/ok": ""])
        try test.write(
            KeptTreeTests.failing.replacing("cat made; test -e ok", with: "cat made; false"), to: "old/workflow.yml")
        try await test.run("workflow.yml", in: "old").expect(exit: 1)
        try FileManager.default.moveItem(atPath: test.path("old"), toPath: test.path("new"))
        let result = try await test.run("workflow.yml", "--resume", "--log", "json", in: "new")
        #expect(try result.log().decisions == ["before": "restored", "g.one": "tree", "g.two": "outcome"])
    }

    @Test func `a workflow from standard input leaves the copies of others`() async throws {
        let test = try FlowrunTest(KeptTreeTests.failing)
        try await test.run("run", "-", stdin: .text(KeptTreeTests.failing)).expect(exit: 1)
        let kept = try test.treeCopies
        #expect(kept.count == 1)
        let other = KeptTreeTests.failing.replacing("echo one", with: "echo other")
        try await test.run("run", "-", stdin: .text(other)).expect(exit: 1)
        #expect(try test.treeCopies.count == 2)
    }
}
