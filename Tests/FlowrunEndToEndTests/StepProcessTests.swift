import FlowrunTestSupport
import Testing

/// What a step's process is given: its folder, its shell, its descriptors, its signals.
struct StepProcessTests {
    @Test func `steps run in the file's folder, or in one relative to it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              plain: { run: pwd }
              group:
                working-directory: sub
                steps:
                  inherits: { run: [pwd] }
                  own: { working-directory: sub/deep, run: pwd }
            """, files: ["sub/deep/file": "", "elsewhere/file": ""])
        let here = test.folder
        for (arguments, folder) in [(["workflow.yml"], ""), (["../workflow.yml"], "elsewhere")] {
            let result = try await test.start(["run", "--log", "json"] + arguments, in: folder).finish()
            result.expect(exit: 0)
            let log = try result.log()
            #expect(log.output(of: "plain") == "\(here)\n")
            #expect(log.output(of: "group.inherits") == "\(here)/sub\n")
            #expect(log.output(of: "group.own") == "\(here)/sub/deep\n")
        }
    }

    @Test func `-C changes the folder first, as in make`() async throws {
        let test = try FlowrunTest(files: ["sub/workflow.yml": "version: 1\nsteps: { a: { run: pwd } }\n"])
        let result = try await test.run("-C", "sub", "workflow.yml", "--log", "json", "--log-file", "log.jsonl")
        result.expect(exit: 0)
        #expect(try result.log().output(of: "a") == "\(test.folder)/sub\n")
        #expect(test.exists("sub/log.jsonl"))
        let missing = try await test.run("-C", "nowhere", "workflow.yml")
        missing.expect(exit: 64, stdout: "")
        missing.expect(stderr: "`nowhere`")
    }

    @Test func `a script runs in the shell the step names, a list in none`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              default: { run: 'echo ${BASH_VERSION:+bash}; false | true; echo not reached' }
              first-error: { run: "false; echo not reached" }
              sh: { shell: sh, run: 'false | true; echo ${BASH_VERSION:-plain}' }
              named: { shell: python3, run: 'print(6 * 7)' }
              listed: { shell: [printf, "%s|"], run: "a  b" }
              argv: { run: [printf, "%s|", "a  b", "$HOME", "*"] }
              lines:
                run: |
                  word="two  words"
                  printf '%s\\n' "$word"
            """)
        let result = try await test.runLogged()
        let log = try result.log()
        #expect(log.output(of: "default") == "bash\n")
        #expect(log.outcomes["default"] == "failure")
        #expect(log.outcomes["first-error"] == "failure")
        #expect(log.output(of: "first-error") == "")
        #expect(log.output(of: "sh") == "plain\n")
        #expect(log.output(of: "named") == "42\n")
        #expect(log.output(of: "listed") == "a  b|")
        #expect(log.output(of: "argv") == "a  b|$HOME|*|")
        #expect(log.output(of: "lines") == "two  words\n")
        LogInvariants.check(log)
    }

    @Test func `profiles of the user are not read`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'echo clean' } }\n", files: ["home/.bashrc": "echo dirty\n"])
        let log = try await test.runLogged(environment: ["HOME": test.path("home")]).log()
        #expect(log.output(of: "a") == "clean\n")
    }

    @Test func `standard input is empty, and flowrun's own is left alone`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: 'readlink /proc/self/fd/0; cat' } }\n")
        let silent = try await test.start(["workflow.yml", "--log", "json"], stdin: .silent).finish()
        silent.expect(exit: 0)
        #expect(try silent.log().output(of: "a") == "/dev/null\n")
        let untouched = try await test.run(
            stdin: .text("for others\n"), launcher: ["sh", "-c", #""$0" workflow.yml --log quiet; cat"#])
        untouched.expect(exit: 0, stdout: "for others\n", stderr: "")
    }

    @Test func `a step has three descriptors, whatever flowrun was given`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              list: { run: [ls, /proc/self/fd] }
              again: { needs: [list], run: [ls, /proc/self/fd] }
              beside: { run: [ls, /proc/self/fd] }
            """)
        let opening = "exec 7</dev/null 9>>other 200</dev/null; exec \"$0\" \"$@\""
        let result = try await test.run(
            "workflow.yml", "--log", "json", "--log-file", "log.jsonl", launcher: ["bash", "-c", opening])
        result.expect(exit: 0)
        for step in ["list", "again", "beside"] {
            // The fourth is the folder that `ls` reads.
            #expect(try result.log().output(of: step) == "0\n1\n2\n3\n")
        }
    }

    @Test func `a step blocks and ignores no signal, whatever flowrun was given`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: [sed, -nE, 's/^Sig(Blk|Ign):.//p', /proc/self/status] } }\n")
        let result = try await test.run(
            "workflow.yml", "--log", "json", launcher: ["sh", "-c", "trap '' PIPE; exec \"$0\" \"$@\""])
        result.expect(exit: 0)
        // Signals 32 and 33 are the C library's own; it never touches them for others.
        let masks = try result.log().output(of: "a").split(separator: "\n")
            .map { try #require(UInt64($0, radix: 16)) & ~0x1_8000_0000 }
        #expect(masks == [0, 0])
    }

    @Test func `each step has a session of its own`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: [sh, -c, 'cut -d\" \" -f1,5,6 /proc/$$/stat'] } }\n")
        let log = try await test.runLogged().log()
        let ids = log.output(of: "a").split(whereSeparator: \.isWhitespace)
        #expect(ids.count == 3 && Set(ids).count == 1, "process, group and session are \(ids)")
        #expect(log.first("step.started", step: "a")?["pid"]?.int.map(String.init) == ids.first.map(String.init))
    }

    @Test func `a process that a step leaves behind neither holds the run up nor survives it`() async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              leaves: { run: "sleep 9999 & echo done" }
              next: { needs: [leaves], run: "true" }
            """)
        let result = try await test.runLogged()
        #expect(test.survivors() == [])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "leaves") == "done\n")
        #expect(try #require(log.finished("leaves")?["left_behind"]?.int) >= 1)
        #expect(log.finished("leaves")?["escaped"]?.int == 0)
        LogInvariants.check(log, needs: DependencyTable(["next": ["leaves"]]))
    }

    @Test func `a process that a step leaves behind without its streams does not survive it either`() async throws {
        let test = try FlowrunTest(
            "version: 1\nsteps: { leaves: { run: 'sleep 9999 > /dev/null 2>&1 &' } }\n")
        let result = try await test.runLogged()
        #expect(test.survivors() == [])
        result.expect(exit: 0)
        LogInvariants.check(try result.log())
    }

    @Test func `a process that is left behind and ends holds nothing up, even as a zombie`() async throws {
        // Like PID 1 of a container that is no init: adopts orphans and never waits for them.
        let adopter = """
            import ctypes, subprocess, sys
            PR_SET_CHILD_SUBREAPER = 36
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            sys.exit(subprocess.call(sys.argv[1:]))
            """
        let test = try FlowrunTest(
            "version: 1\nsteps: { leaves: { run: 'sleep 0.1 > /dev/null 2>&1 & echo done' } }\n")
        let result = try await test.run("workflow.yml", "--log", "json", launcher: ["python3", "-c", adopter])
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.all("step.signal").isEmpty)
        #expect(log.finished("leaves")?["left_behind"]?.int == 0)
    }
}
