import FlowrunTestSupport
import Testing

/// `uses`: bodies of groups in other files and in templates, run by the program.
struct `A group that uses` {
    private static let build = """
        version: 1
        params: { target: { required: true }, mode: { type: enum, values: [fast, small], default: fast } }
        env: { WHO: inner, NAME: "build-${{ params.target }}", BEFORE: "${{ env.WHO ?? 'nobody' }}" }
        dotenv: local.env
        defaults: { working-directory: src }
        outputs: { made: "${{ steps.compile.outputs.made }}" }
        steps:
          compile:
            run: |
              echo "$PWD $NAME $BEFORE $WHO $mode $FROM_FILE ${channel-unset} ${item-unset}"
              echo "made=$target" >> "$FLOWRUN_OUTPUT"
            outputs: { made: string }
        finally:
          clean: { run: [echo, "${{ run.outcome }}"] }
        """

    @Test func `a file's steps run in its folder with what they are given, and nothing else`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            params: { channel: { default: nightly } }
            env: { WHO: outer }
            steps:
              sizes: { run: 'echo list=[\\"p\\",\\"q\\"] >> "$FLOWRUN_OUTPUT"', outputs: { list: list } }
              build:
                needs: [sizes]
                for-each: ${{ steps.sizes.outputs.list }}
                uses: ci/build.yml
                with: { target: "${{ item }}-${{ params.channel }}", mode: small }
              end: { needs: [build], run: [echo, "${{ join(steps.build.outputs.made, ' ') }}"] }
            """, files: ["ci/build.yml": Self.build, "ci/local.env": "FROM_FILE=yes\n", "ci/src/x": ""])
        try await test.run("check", "--strict", "workflow.yml").expect(exit: 0)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        for item in ["p", "q"] {
            #expect(
                log.output(of: "build[\(item)].compile")
                    == "\(test.folder)/ci/src build-\(item)-nightly outer inner small yes unset unset\n")
            #expect(log.output(of: "build[\(item)].finally.clean") == "success\n")
        }
        #expect(log.output(of: "end") == "p-nightly q-nightly\n")
    }

    @Test func `a failing line is found in the file that has it`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  a: { uses: ci/b.yml }\n",
            files: ["ci/b.yml": "version: 1\nsteps:\n  s:\n    run: |\n      true\n      false\n"])
        let result = try await test.runLogged()
        result.expect(exit: 1)
        let error = try #require(try result.log().runFinished?["errors"]?.array?.first)
        #expect(error["step"]?.string == "a.s")
        #expect(error["file"]?.string == "ci/b.yml" && error["line"]?.int == 3)
        #expect(error["cause"]?["file"]?.string == "ci/b.yml" && error["cause"]?["line"]?.int == 6)
        try await test.run("workflow.yml").expect(stdout: "1 error:", "a.s: exit 1", "(ci/b.yml:6)")
        try await test.run("why", "a.s").expect(stdout: "ci/b.yml:6")
        try await test.run("plan", "workflow.yml", "--format", "json").expect(stdout: #""file":"ci/b.yml""#)
        try await test.run("list", "workflow.yml", "--format", "json").expect(stdout: #""file":"ci/b.yml""#)
    }

    @Test func `the vars of a used file have its environment, its defaults and what each round gives them`()
        async throws
    {
        let used = """
            version: 1
            params: { tag: { type: string, required: true } }
            env: { A: inner }
            env-policy: clean
            defaults: { shell: sh }
            vars:
              a: "${{ env.A }}"
              shell: { run: 'echo "$0 ${OUTER-unset}"' }
              image: "r/${{ params.tag }}"
              made: { run: [echo, "m/${{ params.tag }}"] }
            steps:
              show: { run: [echo, "${{ vars.a }} ${{ vars.shell }} ${{ vars.image }} ${{ vars.made }}"] }
              again: { needs: [show], run: '[ -e second ] || { touch second; exit 1; }' }
            """
        let test = try FlowrunTest(
            """
            version: 1
            env: { A: outer }
            steps:
              g:
                retry: { attempts: 2 }
                steps:
                  find: { run: 'if [ -e second ]; then t=2; else t=1; fi; echo t=$t >> "$FLOWRUN_OUTPUT"', outputs: { t: string } }
                  body: { needs: [find], uses: ./used.yml, with: { tag: "${{ steps.find.outputs.t }}" } }
            """, files: ["used.yml": used])
        let result = try await test.runLogged(environment: ["OUTER": "set"])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "g.body.show") == "inner sh unset r/1 m/1\ninner sh unset r/2 m/2\n")
    }

    @Test func `a value that the run finds out and a parameter does not take fails the group`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            templates: { t: { params: { n: { type: int, default: 0 } }, steps: { s: { run: 'echo $n' } } } }
            steps:
              find: { run: 'echo n=\\"many\\" >> "$FLOWRUN_OUTPUT"', outputs: { n: json } }
              bad: { needs: [find], uses: t, with: { n: "${{ steps.find.outputs.n }}" } }
              behind: { needs: [bad], run: 'true' }
            """
        ).runLogged().log()
        #expect(log.outcomes["bad.s"] == "not-run")
        let error = try #require(log.runFinished?["errors"]?.array?.first)
        #expect(error["group"]?.string == "bad")
        #expect(
            error["cause"]?["message"]?.string
                == "`n` of `with`: expected a whole number in decimal digits, such as 12 or -3, found `many`")
        #expect(error["cause"]?["line"]?.int == 5)
        #expect(log.outcomes["behind"] == "not-run")
    }

    @Test func `members of what is used are chosen like others, and what default leaves out is manual`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps:\n  lib: { uses: lib.yml }\n  end: { needs: [lib], run: 'true' }\n",
            files: [
                "lib.yml": """
                version: 1
                default: [build]
                steps:
                  build: { run: echo build }
                  clean: { run: echo clean }
                """
            ])
        #expect(try await test.runLogged().log().startOrder == ["lib.build", "end"])
        #expect(try await test.runLogged("lib.clean").log().startOrder == ["lib.clean"])
        try await test.run("list", "workflow.yml").expect(stdout: "lib.clean", "(manual)")
    }

    @Test func `a file outside of the folder needs to be allowed`() async throws {
        let test = try FlowrunTest(files: [
            "in/flowrun.yml": "version: 1\nsteps:\n  a: { uses: ../lib.yml }\n  b: { uses: link.yml }\n",
            "lib.yml": "version: 1\nsteps:\n  s: { run: pwd }\n",
        ])
        try await test.run(launcher: ["sh", "-c", "exec ln -s ../lib.yml in/link.yml"]).expect(exit: 0)
        let refused = try await test.run("check", "in/flowrun.yml")
        refused.expect(exit: 2)
        refused.expect(
            stdout: "in/flowrun.yml:3:14: error[FR0224]: `../lib.yml` is outside of the folder", "`link.yml`")
        try await test.run("check", "--allow-outside", "in/flowrun.yml").expect(exit: 0)
        let result = try await test.run("in/flowrun.yml", "--allow-outside", "--log", "json")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "a.s") == "\(test.folder)\n")
    }

    @Test func `templates see their own steps, their parameters and those of the file`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            params: { channel: { default: nightly } }
            templates:
              install:
                params: { package: { required: true }, flags: { type: list, default: [] } }
                outputs: { size: "${{ steps.fetch.outputs.size }}" }
                steps:
                  fetch:
                    run: echo "$package $channel ${item-unset}"; echo "size=${#package}" >> "$FLOWRUN_OUTPUT"
                    outputs: { size: int }
                  put: { needs: [fetch], run: [printf, '<%s>', "${{ params.flags }}", "${{ params.channel }}"] }
              both:
                params: { suffix: { required: true } }
                steps:
                  one: { uses: install, with: { package: "one${{ params.suffix }}" } }
            steps:
              tool: { uses: install, with: { package: tool, flags: [-a, b c] } }
              each: { for-each: [x], uses: both, with: { suffix: "-${{ item }}" } }
              end: { needs: [tool], run: [echo, "${{ steps.tool.outputs.size }}"] }
            """
        ).runLogged().log()
        #expect(log.output(of: "tool.fetch") == "tool nightly unset\n")
        #expect(log.output(of: "tool.put") == "<-a><b c><nightly>")
        #expect(log.output(of: "each[x].one.fetch") == "one-x nightly unset\n")
        #expect(log.output(of: "end") == "4\n")
    }

    @Test func `a retried group evaluates anew what it gives`() async throws {
        let log = try await FlowrunTest(
            """
            version: 1
            templates: { t: { params: { n: { type: int, default: 0 } }, steps: { s: { run: 'test "$n" = 2' } } } }
            steps:
              all:
                retry: { attempts: 3 }
                steps:
                  count: { run: 'echo x >> tries; echo "n=$(wc -l < tries)" >> "$FLOWRUN_OUTPUT"', outputs: { n: int } }
                  use: { needs: [count], uses: t, with: { n: "${{ steps.count.outputs.n }}" } }
            """
        ).runLogged().log()
        #expect(log.outcomes["all.use.s"] == "success")
        #expect(log.all("step.finished").count { $0.step == "all.use.s" } == 2)
    }
}
