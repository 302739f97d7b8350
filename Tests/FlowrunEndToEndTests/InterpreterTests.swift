import FlowrunTestSupport
import Testing

/// Who reads a script, and how: shebangs, `--trace`, colours.
struct InterpreterTests {
    @Test func `a script with a shebang goes to that interpreter`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              awk:
                run: |
                  #!/usr/bin/awk -f
                  BEGIN { print "awk", 1 + 2 }
              env:
                run: |
                  #!/usr/bin/env -S bash -u
                  set +e
                  false
                  echo "$-" > flags
                  echo "${0##*/} $#"
              sh: { shell: bash, run: "#! /bin/sh\necho \"${BASH_VERSION-none}\"" }
              none: { run: "#!/nonexistent/interpreter\n:" }
            """#)
        let result = try await test.runLogged("-j", "1")
        let log = try result.log()
        LogInvariants.check(log)
        #expect(log.outcomes == ["awk": "success", "env": "success", "sh": "success", "none": "failure"])
        #expect(log.output(of: "awk") == "awk 3\n")
        #expect(log.output(of: "env").hasSuffix("-env 0\n"))
        #expect(try test.contents(of: "flags").contains("u"))
        #expect(log.finished("none")?.cause?.message?.contains("`/nonexistent/interpreter`") == true)
    }

    @Test func `the file of such a script goes with its step`() async throws {
        let test = try FlowrunTest("version: 1\nsteps:\n  a: { run: \"#!/bin/sh\\necho $0\" }\n")
        let log = try await test.runLogged(environment: ["TMPDIR": test.folder]).log()
        let path = log.output(of: "a").split(separator: "\n").first.map(String.init) ?? ""
        #expect(path.hasPrefix(test.folder))
        #expect(!test.exists(String(path.dropFirst(test.folder.count + 1))))
    }

    @Test func `with --trace shells show each command`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            defaults: { streams: separate }
            steps:
              bash: { run: "echo a\ntest -f nope\n" }
              sh: { shell: sh, run: echo b }
              shebang: { run: "#!/usr/bin/env bash\necho c" }
              awk: { run: "#!/usr/bin/awk -f\nBEGIN { print 4 }" }
              words: { run: [echo, d] }
            """#)
        let log = try await test.runLogged("--trace").log()
        #expect(log.output(of: "bash", stream: "stderr") == "+ echo a\n+ test -f nope\n")
        #expect(log.finished("bash")?.cause?.message == "exit 1 in `test -f nope`")
        #expect(log.output(of: "sh", stream: "stderr") == "+ echo b\n")
        #expect(log.output(of: "shebang", stream: "stderr") == "+ echo c\n")
        #expect(log.output(of: "awk") == "4\n" && log.output(of: "words") == "d\n")
        #expect(try await test.runLogged().log().output(of: "sh", stream: "stderr") == "")
    }

    @Test func `steps are told to use colours where the log has them`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              a: { run: "echo \"a=${FORCE_COLOR-none},${CLICOLOR_FORCE-none}\"" }
              read: { run: "echo \"${FORCE_COLOR-none}\"", outputs: { v: { from: stdout } } }
              reader: { needs: [read], run: [echo, "read=${{ steps.read.outputs.v }}"] }
            """#)
        let colored = try await test.run("workflow.yml", "--color", "always", environment: ["FORCE_COLOR": nil])
        colored.expect(stdout: "a=1,1")
        colored.expect(stdout: "read=none")
        let plain = try await test.run("workflow.yml", "--color", "never", environment: ["FORCE_COLOR": nil])
        plain.expect(stdout: "a=none,none")
        let own = try await test.run("workflow.yml", "--color", "always", environment: ["FORCE_COLOR": "3"])
        own.expect(stdout: "a=3,none")
        let none = try await test.run("workflow.yml", "--color", "always", environment: ["NO_COLOR": "1"])
        none.expect(stdout: "a=none,none")
    }
}
