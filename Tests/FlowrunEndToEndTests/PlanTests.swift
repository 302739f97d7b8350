import FlowrunTestSupport
import Testing

/// `plan`, `graph` and `run --dry-run` show what the same words would run.
struct PlanTests {
    private static let workflow = """
        version: 1
        default: [build]
        params:
          targets: { type: list, default: [x86, arm] }
          publish: { type: bool, default: false }
          tag: { type: string, required: true, env: TAG }
        steps:
          build: { for-each: "${{ params.targets }}", as: target, timeout: 1m, run: [echo, "${{ target }}"] }
          test: { needs: [build], timeout: 1m, run: touch ran }
          release: { manual: true, if: params.publish, needs: [test], timeout: 1m, run: echo "$tag" }
        """

    private func test() throws -> FlowrunTest { try FlowrunTest(files: ["sub/flowrun.yml": Self.workflow]) }

    @Test func `a plan has the steps, parameters and folder of its command line`() async throws {
        let test = try test()
        let plans = ["flowrun.yml: 4 steps in 2 levels", "build[a]", "build[b]", "build[c]", "test", "after build"]
        let commands = [
            "flowrun.yml: 4 steps", "build[a]", "echo a", "build[b]", "build[c]", "echo c", "test", "touch ran",
        ]
        for (command, wanted) in [(["plan"], plans), (["run", "--dry-run"], commands), (["-n"], commands)] {
            let result = try await test.start(command + ["-C", "sub", "test", "--param", "targets=a,b,c"]).finish()
            result.expect(exit: 0, stderr: "")
            var rest = result.stdout[...]
            for text in wanted { rest = rest[try #require(rest.firstRange(of: text), "\(text)").upperBound...] }
            #expect(!result.stdout.contains("release"))
        }
        #expect(!test.exists("sub/ran"))
        let graph = try await test.run("graph", "-C", "sub", "build", "--param", "targets=a,b,c")
        graph.expect(stdout: "build × 3")
        #expect(!graph.stdout.contains("test"))
    }

    @Test func `plan, header and end count the same steps`() async throws {
        let test = try test()
        for (words, count) in [(["test"], 3), ([], 2), (["test", "--param", "targets=a"], 2)] {
            let plan = try await test.start(["plan", "-C", "sub"] + words).finish()
            plan.expect(stdout: ": \(count) steps in ")
            let run = try await test.start(["-C", "sub"] + words).finish()
            run.expect(stdout: ", \(count) steps, ", ": \(count) success\n")
        }
        try await test.run("plan", "-C", "sub", "release").expect(
            stdout: "4 steps in 3 levels", "release", "skipped: if params.publish")
        let run = try await test.run("-C", "sub", "release")
        run.expect(stdout: "4 steps", "3 success, 1 skipped")
    }

    @Test func `a fan-out of the run is named beside the number`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: 'echo "items=[1, 2]" >> "$FLOWRUN_OUTPUT"', outputs: { items: list } }
              each: { needs: [list], for-each: "${{ steps.list.outputs.items }}", run: 'true' }
            """)
        try await test.run("plan", "workflow.yml").expect(
            stdout: "workflow.yml: 1 step and the copies of each in 2 levels")
        let run = try await test.run("workflow.yml", "--log-file", "log")
        run.expect(stdout: ", 1 step and the copies of each, up to", "3 success")
        let started = try EventLog(jsonLines: try test.contents(of: "log")).first("run.started")
        #expect(started?["steps"]?.int == 1)
        #expect(started?["fan_outs"]?.strings == ["each"])
    }

    @Test func `the bound of a fan-out over a parameter is known`() async throws {
        let test = try test()
        let words = ["plan", "-C", "sub", "-j", "1", "test"]
        try await test.start(words).finish().expect(stdout: "bound: none, the parameter `tag` has no value")
        let known = words + ["--param", "tag=1"]
        try await test.start(known).finish().expect(stdout: "bound: at most 3m36s600ms with 1 job")
        try await test.start(known + ["--param", "targets=a,b,c,d"]).finish()
            .expect(stdout: "bound: at most 6m1s with 1 job")
    }

    @Test func `what a run would refuse, a dry run does, and a plan only what is wrong`() async throws {
        let test = try test()
        let words = ["-C", "sub", "release", "--param", "publish=true"]
        let dry = try await test.start(["--dry-run"] + words).finish()
        dry.expect(exit: 64, stdout: "")
        dry.expect(stderr: "the parameter `tag` is required; give --param tag=VALUE, or set the variable `TAG`")
        try await test.start(["plan"] + words).finish().expect(exit: 0, stderr: "")
        try await test.start(["--dry-run"] + words, environment: ["TAG": "v1"]).finish().expect(exit: 0, stderr: "")
        for command in [["plan"], ["graph"], ["--dry-run"]] {
            let wrong = try await test.start(command + ["-C", "sub", "--param", "publish=maybe"]).finish()
            wrong.expect(exit: 64, stdout: "")
            wrong.expect(stderr: "--param publish=maybe: expected true or false")
        }
    }

    @Test func `a plan in JSON tells what is skipped, and so does a dry run`() async throws {
        let test = try test()
        let plan = try await test.run("plan", "-C", "sub", "release", "--format", "json")
        plan.expect(stdout: #""id":"release""#, #""if":"params.publish","skipped":true"#)
        let dry = try await test.run("-C", "sub", "release", "--dry-run", "--log", "json")
        dry.expect(stdout: #""id":"release","skipped":true"#)
    }

    @Test(arguments: [
        (["graph", "--format", "svg"], "--format svg: expected `dot`, `mermaid` or `json`; `svg` is not built yet")
    ])
    func `what is planned is not an unknown option`(words: [String], message: String) async throws {
        let result = try await test().start(words).finish()
        result.expect(exit: 64, stdout: "")
        result.expect(stderr: "flowrun: \(message)\n")
    }

    @Test func `why knows the copies that parameters have made`() async throws {
        let test = try test()
        try await test.run("-C", "sub", "--param", "targets=p,q").expect(exit: 0)
        try await test.run("why", "-C", "sub", "build[q]").expect(exit: 0, stdout: "build[q]: success\n")
    }
}
