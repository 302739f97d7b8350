import FlowrunTestSupport
import Foundation
import Testing

/// `params` of a step: the values behind its name, and where they arrive.
struct StepParameterTests {
    private static let workflow = """
        version: 1
        params: { mode: { type: enum, values: [fast, full], default: fast } }
        vars: { name: outer, other: var }
        env: { count: top }
        steps:
          build: { run: 'echo "build $mode ${stage-none}"' }
          greet:
            aliases: [g]
            manual: true
            params:
              name: { default: World, description: whom }
              count: { type: int, default: 1 }
            run: 'echo "hello $name $count $other"'
          deploy:
            manual: true
            needs: [build]
            params:
              stage: { type: enum, values: [prod, test], required: true, description: where to }
              times: { type: int, default: 2 }
            if: params.times > 0
            env: { TARGET: "${{ params.stage }}/${{ params.mode }}" }
            run: [sh, -c, 'echo "$0 $TARGET"', "${{ params.times }}"]
          test: { manual: true, run: echo test }

        """

    private func test() throws -> FlowrunTest { try FlowrunTest(files: ["flowrun.yml": Self.workflow]) }

    @Test(
        arguments: [
            (["greet"], "hello World 1 var\n"), (["greet", "Ann"], "hello Ann 1 var\n"),
            (["g", "Ann", "3"], "hello Ann 3 var\n"), (["greet", "count=3"], "hello World 3 var\n"),
            (["greet", "count=3", "a=b c"], nil), (["greet", "name=a=b c", "4"], "hello a=b c 4 var\n"),
            (["--param", "greet.name=Ann", "greet", "5"], "hello Ann 5 var\n"),
            (["--param", "g.count=6", "greet", "--param", "greet.name=x.y"], "hello x.y 6 var\n"),
            (["greet", "name="], "hello  1 var\n"), (["greet", "-j", "1", "Ann"], "hello Ann 1 var\n"),
        ] as [([String], String?)])
    func `values follow the name of the step or have their own`(words: [String], output: String?) async throws {
        let result = try await test().start(words + ["--log", "json"]).finish()
        guard let output else { return result.expect(exit: 64, stdout: "") }
        result.expect(exit: 0)
        #expect(try result.log().output(of: "greet") == output)
    }

    @Test func `every key of the step sees them, and no other step does`() async throws {
        let result = try await test().run("deploy", "prod", "times=3", "build", "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "deploy") == "3 prod/fast\n")
        #expect(log.output(of: "build") == "build fast none\n")
        let params = log.first("run.started")?["params"]
        #expect(params?["deploy.stage"] == .string("prod"))
        #expect(params?["deploy.times"] == .number(3))
        let skipped = try await test().run("deploy", "prod", "0", "--log", "json")
        skipped.expect(exit: 0)
        #expect(try skipped.log().outcomes["deploy"] == "skipped")
        try await test().run("check").expect(exit: 0)
    }

    @Test(arguments: [
        (
            ["deploy"],
            """
            `deploy` needs a value for `stage`; write `deploy stage=VALUE`, or give --param deploy.stage=VALUE with \
            `prod` or `test` (where to)
            """
        ),
        (
            ["greet", "build"],
            """
            `build` is a step and could be the value of `name`: write `greet name=build` for the value, \
            `build greet` for both steps
            """
        ),
        (
            ["deploy", "test"],
            """
            `test` is a step and could be the value of `stage`: write `deploy stage=test` for the value, \
            `test deploy` for both steps
            """
        ),
        (
            ["greet", "a", "greet"],
            "`greet` is named twice: a step runs once, with one value for each of its parameters"
        ),
        (
            ["greet", "a", "1", "g"],
            "`g` is named twice: a step runs once, with one value for each of its parameters"
        ),
        (
            ["greet", "deploy"],
            """
            `deploy` is a step and could be the value of `name`: write `greet name=deploy` for the value; for both \
            steps, give `greet` each of its values as NAME=VALUE in front of `deploy`
            """
        ),
        (["greet", "a", "many"], "greet count=many: expected a whole number in decimal digits, such as 12 or -3"),
        (["deploy", "staging"], "deploy stage=staging: expected `prod` or `test`"),
        (["greet", "a", "1", "x"], "`x` is no step, and `greet` takes no more than 2 values"),
        (["greet", "nam=x"], "`greet` has no parameter `nam`; did you mean `name`?"),
        (["greet", "x=y"], "`greet` has no parameter `x`, only `name` or `count`"),
        (["--param", "gret.name=x"], "--param gret.name=x: there is no step `gret`; did you mean `greet`?"),
        (["--param", "build.name=x"], "`build` has no parameter `name`"),
        (
            ["greet", "--param", "name=x"],
            "--param name=x: the workflow has no parameter of this name, but `greet` has: write --param greet.name=x"
        ),
    ])
    func `a mistake says what would be right`(words: [String], message: String) async throws {
        let test = try test()
        try await test.start(words).finish().expect(exit: 64, stdout: "", stderr: "flowrun: \(message)\n")
        #expect(!test.exists(".flowrun"))
    }

    @Test func `a word that is no value of the next parameter is a step`() async throws {
        let result = try await test().run("greet", "a", "build", "deploy", "prod", "test", "--log", "json")
        result.expect(exit: 0)
        #expect(try Set(result.log().startOrder) == ["greet", "build", "deploy", "test"])
    }

    @Test func `a required value is wanted only where the step runs`() async throws {
        let text = "version: 1\nsteps: { a: { params: { p: { required: true } }, run: x }, b: { run: echo } }\n"
        let test = try FlowrunTest(files: ["flowrun.yml": text])
        try await test.run("b").expect(exit: 0)
        let all = try await test.run()
        all.expect(exit: 64, stdout: "")
        all.expect(stderr: "`a` needs a value for `p`")
        try await test.run("plan").expect(exit: 0)
        let bound = try await test.run("plan", "a")
        #expect(bound.stdout.contains("bound: none, the parameter `p` of `a` has no value"))
    }

    @Test func `a variable of the environment gives a value, and an instance has those of its step`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              a:
                params: { all: { type: list, default: [x] }, tag: { env: TAG } }
                for-each: ${{ params.all }}
                run: 'echo "$item $tag"'
            """)
        let result = try await test.run(
            "workflow.yml", "a", "y,z", "--log", "json", "-j", "1", environment: ["TAG": "v1"])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.startOrder == ["a[y]", "a[z]"])
        #expect(log.output(of: "a[z]") == "z v1\n")
    }

    @Test func `a resume runs a step again whose value is another`() async throws {
        let text = """
            version: 1
            steps:
              a: { params: { p: { default: x } }, run: echo a }
              bad: { needs: [a], run: "false" }
            """
        let test = try FlowrunTest(text)
        try await test.run("workflow.yml", "a", "1", "bad").expect(exit: 1)
        let same = try await test.run("workflow.yml", "a", "p=1", "bad", "--resume", "--log", "json")
        #expect(try same.log().startOrder == ["bad"])
        let other = try await test.run("workflow.yml", "a", "p=2", "bad", "--resume", "--log", "json")
        #expect(try other.log().startOrder == ["a", "bad"])
    }

    @Test func `steps of templates and files have theirs behind the full id`() async throws {
        let test = try FlowrunTest(files: [
            "flowrun.yml": """
            version: 1
            params: { top: { default: t } }
            templates:
              t: { params: { x: {} }, steps: { s: { params: { y: { default: d } }, run: 'echo "$x $y $top"' } } }
            steps:
              one: { uses: t, with: { x: 1 } }
              two: { uses: ./sub.yml }
            """,
            "sub.yml": "version: 1\nsteps: { s: { params: { top: { default: own } }, run: 'echo $top' } }\n",
        ])
        let result = try await test.run("one.s", "why", "two.s", "not", "--log", "json")
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "one.s") == "1 why t\n")
        #expect(log.output(of: "two.s") == "not\n")
        let params = try await test.run("--param", "two.s.top=z", "two", "--log", "json")
        #expect(try params.log().output(of: "two.s") == "z\n")
    }

    @Test func `the list shows them`() async throws {
        let test = try test()
        let list = try await test.run("list")
        list.expect(exit: 0)
        #expect(
            list.stdout.contains(
                """
                greet   (or g) (manual)
                  name=STRING  whom  (default: World)
                  count=INT    (default: 1)
                deploy  (manual)
                  stage=prod|test  where to  (required)
                  times=INT        (default: 2)

                """))
        let json = try await test.run("list", "--format", "json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.stdout.utf8)) as? [String: Any])
        let steps = try #require(object["steps"] as? [[String: Any]])
        let names = steps.map { ($0["params"] as? [[String: Any]])?.compactMap { $0["name"] as? String } }
        #expect(names == [[], ["name", "count"], ["stage", "times"], []])
    }
}
