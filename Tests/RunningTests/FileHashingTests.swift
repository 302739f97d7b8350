import FlowrunTestSupport
import Glibc
import Processes
import RunLog
import Testing
import Workflow

@testable import Running

/// `hashFiles` while a run goes on: nothing else waits for it, and nothing that is asked to end.
@Suite(.timeLimit(.minutes(20))) struct FileHashingTests {
    typealias Behaviour = FakeSpawner.Behaviour

    init() { EventLoopThread.ensureRunning() }

    // MARK: Where it is asked for

    @Test @EventLoopActor func `a condition is decided when its hash is known, and holds up nothing else`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { if: "hashFiles('x') == '#x'", run: "true", mutex: m }
              b: { run: "true", mutex: m }
              c: { run: "true", needs: [b] }
              d: { if: "hashFiles('x') != '#x'", run: "true" }
            """, jobs: 1)
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "0 started b", "1 finished b success", "1 started c", "2 finished c success", "10 started a",
                "11 finished a success", "20 finished d skipped", "20 finished run success",
            ])
    }

    @Test @EventLoopActor func `a step whose command needs a hash has started and takes its slot`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: [echo, "${{ hashFiles('x', 'y') }}", "${{ hashFiles('z') }}"] }
              b: { run: "true" }
            """, jobs: 1)
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "20 started a", "21 finished a success", "21 started b", "22 finished b success",
                "22 finished run success",
            ])
        #expect(run.spawner.commands.first?.arguments == ["echo", "#x+y", "#z"])
        #expect(run.fileReader.patterns == [["x", "y"], ["z"]])
    }

    @Test @EventLoopActor func `variables, folders and standard input may need one`() throws {
        let run = try VirtualRun(
            """
            env: { TOP: "${{ hashFiles('top') }}" }
            steps:
              a:
                if: env.TOP == '#top'
                env: { OWN: "${{ hashFiles('own') }}" }
                working-directory: "/tmp/${{ hashFiles('folder') }}/.."
                stdin: "${{ hashFiles('in') }}"
                run: "true"
              b: { run: "true" }
            """)
        mkdir("/tmp/#folder", 0o700)
        defer { rmdir("/tmp/#folder") }
        #expect(try run.run().outcome == .success)
        for command in run.spawner.commands { #expect(command.environment["TOP"] == "#top") }
        #expect(run.spawner.commands.last?.environment["OWN"] == "#own")
        #expect(run.spawner.commands.last?.standardInput != nil)
        #expect(Set(run.fileReader.patterns) == [["top"], ["own"], ["folder"], ["in"]])
    }

    @Test @EventLoopActor func `so may the list of a fan-out and the outputs of a group`() throws {
        let run = try VirtualRun(
            """
            outputs: { all: "${{ steps.g.outputs.hash }}+${{ hashFiles('top') }}" }
            steps:
              g:
                outputs: { hash: "${{ hashFiles('group') }}" }
                steps:
                  d: { for-each: "${{ fromJSON(format('[\\"{0}\\"]', hashFiles('list'))) }}", run: "true" }
            """)
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "0 started g", "0 started g.d", "10 added g.d[#list] by g.d", "10 started g.d[#list]",
                "11 finished g.d[#list] success", "11 finished g.d success", "21 finished g success",
                "31 finished run success",
            ])
        #expect(run.end?.outputs.map(\.json) == ["\"#group+#top\""])
    }

    @Test @EventLoopActor func `each attempt hashes again, because files change`() throws {
        let run = try VirtualRun(
            """
            steps: { a: { run: [echo, "${{ hashFiles('x') }}"], retry: { attempts: 2 } } }
            """
        ) { _, attempt in Behaviour(status: .exited(attempt == 1 ? 1 : 0)) }
        #expect(try run.run().outcome == .success)
        #expect(run.fileReader.patterns == [["x"], ["x"]])
    }

    @Test @EventLoopActor func `who waits for the same files shares the hash, unless it has begun`() throws {
        let steps = (0..<20).map { "  s\($0): { if: \"hashFiles('x') == '#x'\", run: \"true\" }\n" }.joined()
        let run = try VirtualRun("steps:\n" + steps, jobs: 20)
        #expect(try run.run().outcome == .success)
        #expect(run.fileReader.tasks.count == 2)
        #expect(run.lines.filter { $0.hasPrefix("10 started") } == ["10 started s0"])
        #expect(run.lines.filter { $0.hasPrefix("20 started") }.count == 19)
    }

    @Test @EventLoopActor func `a file that cannot be read fails what asks for it`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { if: "hashFiles('x') == ''", run: "true" }
              b: { run: [echo, "${{ hashFiles('x') }}"] }
            """)
        run.fileReader.error = FileHash.ReadError(path: "x", reason: "permission denied")
        #expect(try run.run().outcome == .failure)
        let message = "`hashFiles` cannot read `x`: permission denied"
        #expect(run.causes(of: "a") == ["cannot evaluate `if`: \(message)"])
        #expect(run.causes(of: "b") == [message])
    }

    // MARK: Who is asked to end meanwhile

    /// One of each that waits for a hash.
    nonisolated private static let waiting = [
        "s: { if: \"hashFiles('x') == ''\", run: \"true\" }",
        "s: { run: [echo, \"${{ hashFiles('x') }}\"] }",
        "s: { if: \"hashFiles('x') == ''\", steps: { t: { run: \"true\" } } }",
        "s: { for-each: \"${{ fromJSON(hashFiles('x')) }}\", run: \"true\" }",
        "s: { outputs: { o: \"${{ hashFiles('x') }}\" }, steps: { t: { run: \"true\" } } }",
    ]

    @Test(arguments: waiting) @EventLoopActor
    func `a cancel ends what waits for a hash at once, and nobody reads on`(step: String) throws {
        let run = try VirtualRun("steps:\n  \(step)\n  other: { run: \"true\", needs: { s: done } }\n")
        run.at(.seconds(3)) { #expect(run.runner.cancel("s") == .accepted) }
        try run.run()
        #expect(run.lines(of: "s").last == "3 finished s cancelled")
        #expect(run.lines(of: "other") == ["3 started other", "4 finished other success"])
        #expect(run.fileReader.givenUp == [["x"]])
    }

    @Test(arguments: waiting, [1, 2]) @EventLoopActor
    func `so does a signal, and a second one`(step: String, signals: Int) throws {
        let run = try VirtualRun("steps:\n  \(step)\n")
        run.at(.seconds(3)) { for _ in 0..<signals { run.runner.interrupt(by: SIGINT) } }
        try run.run()
        #expect(run.lines.last == "3 finished run cancelled")
        #expect(run.fileReader.givenUp == [["x"]])
        #expect(run.runner.signal == SIGINT)
    }

    @Test(arguments: waiting) @EventLoopActor
    func `so does the limit of what is around it`(step: String) throws {
        let run = try VirtualRun("timeout: 4s\nsteps:\n  \(step)\n")
        #expect(try run.run().outcome == .runTimeout)
        #expect(run.lines.last == "4 finished run timeout")
        #expect(run.fileReader.givenUp == [["x"]])
    }

    @Test @EventLoopActor func `a step's own limit counts from its process, not while its command needs a hash`() throws
    {
        let run = try VirtualRun(
            "steps: { s: { run: [echo, \"${{ hashFiles('x') }}\"], timeout: 4s, retry: { attempts: 3 } } }"
        ) { _, attempt in Behaviour(duration: .seconds(attempt == 1 ? 5 : 3)) }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines(of: "s") == [
                "10 started s", "14 cancelling s", "14 sent s SIGTERM", "14 retry s in 0", "24 started s attempt 2",
                "27 finished s success",
            ])
    }

    @Test @EventLoopActor func `nor while the machine then refuses a process`() throws {
        let run = try VirtualRun("steps: { s: { run: [echo, \"${{ hashFiles('x') }}\"], timeout: 4s } }") { _, _ in
            Behaviour(duration: .seconds(5))
        }
        run.spawner.errors = [EAGAIN]
        try run.run()
        #expect(
            run.lines(of: "s") == [
                "10.02 started s", "14.02 cancelling s", "14.02 sent s SIGTERM", "14.02 finished s timeout",
            ])
    }

    @Test @EventLoopActor func `the deadline of all attempts counts all the same`() throws {
        let run = try VirtualRun(
            "steps: { s: { run: [echo, \"${{ hashFiles('x') }}\"], retry: { attempts: 3, deadline: 4s } } }")
        try run.run()
        #expect(run.lines(of: "s") == ["4 cancelling s", "4 finished s timeout"])
        #expect(run.finish(of: "s")?.attempt == 0)
    }

    // MARK: In a pause

    @Test(arguments: [false, true]) @EventLoopActor
    func `no start follows the word of a pause, even one that had waited for a hash`(isFreezing: Bool) throws {
        let run = try VirtualRun(
            """
            steps:
              a: { run: [echo, "${{ hashFiles('x') }}"], timeout: 4s }
              b: { run: "true", needs: [a] }
            """
        ) { _, _ in Behaviour(duration: .seconds(3)) }
        run.at(.seconds(5)) { run.runner.pause(by: "ctl", freezing: isFreezing) }
        run.at(.seconds(50)) { run.runner.resume(by: "ctl") }
        #expect(try run.run().outcome == .success)
        #expect(
            run.lines == [
                "5 paused run ctl", "50 resumed run ctl", "50 started a", "53 finished a success", "53 started b",
                "56 finished b success", "56 finished run success",
            ])
    }

    @Test @EventLoopActor func `what a pause holds back ends at once when it is cancelled`() throws {
        let run = try VirtualRun("steps: { a: { run: [echo, \"${{ hashFiles('x') }}\"] }, b: { run: \"true\" } }")
        run.at(.seconds(5)) { run.runner.pause(by: "ctl") }
        run.at(.seconds(20)) { #expect(run.runner.cancel("a") == .accepted) }
        run.at(.seconds(30)) { run.runner.resume(by: "ctl") }
        try run.run()
        #expect(run.lines(of: "a") == ["20 cancelling a", "20 finished a cancelled"])
        #expect(run.spawner.commands.count == 1)
    }

    @Test(arguments: [1, 2]) @EventLoopActor
    func `a signal ends the pause and what it holds back, which is not started before`(signals: Int) throws {
        let run = try VirtualRun("steps: { a: { run: [echo, \"${{ hashFiles('x') }}\"] } }")
        run.at(.seconds(5)) { run.runner.pause(by: "ctl") }
        run.at(.seconds(20)) { for _ in 0..<signals { run.runner.interrupt(by: SIGINT) } }
        try run.run()
        #expect(run.lines(of: "a") == ["20 cancelling a", "20 finished a cancelled"])
        #expect(run.spawner.commands.isEmpty)
    }

    @Test @EventLoopActor func `a hook that a pause holds back starts after a signal`() throws {
        let run = try VirtualRun(
            """
            steps: { a: { run: "true" } }
            finally: { clean: { run: [echo, "${{ hashFiles('x') }}"] } }
            """)
        run.at(.seconds(5)) { run.runner.pause(by: "ctl") }
        run.at(.seconds(20)) { run.runner.interrupt(by: SIGINT) }
        try run.run()
        #expect(run.lines(of: "finally.clean") == ["20 started finally.clean", "21 finished finally.clean success"])
    }

    @Test @EventLoopActor func `when the first is given up, the next hash begins at once`() throws {
        let run = try VirtualRun(
            """
            steps:
              a: { if: "hashFiles('x') == '#x'", run: "true" }
              b: { if: "hashFiles('y') == '#y'", run: "true" }
              c: { if: "hashFiles('y') == '#y'", run: "true" }
              d: { if: "hashFiles('z') == '#z'", run: "true" }
            """)
        run.at(.seconds(2)) { _ = run.runner.cancel("b") }
        run.at(.seconds(3)) { _ = run.runner.cancel("a") }
        try run.run()
        #expect(run.lines(of: "c") == ["13 started c", "14 finished c success"])
        #expect(run.lines(of: "d") == ["23 started d", "24 finished d success"])
        #expect(run.fileReader.givenUp == [["x"]])
    }

    @Test @EventLoopActor func `no answer is taken for one of another round`() throws {
        let run = try VirtualRun(
            """
            steps:
              g:
                retry: { attempts: 2 }
                fail-fast: true
                steps:
                  a: { if: "hashFiles('x') == '#x'", run: "true" }
                  b: { if: "hashFiles('y') == '#y'", run: "true" }
                  c: { run: "false" }
            """
        ) { step, _ in Behaviour(duration: .seconds(2), status: .exited(step == "g.c" ? 1 : 0)) }
        run.at(.seconds(1)) { _ = run.runner.cancel("g.b") }
        try run.run()
        // The second round begins at 2 and asks anew; what was begun in the first is answered at 10 and counts nowhere.
        #expect(run.fileReader.patterns == [["x"], ["x"]])
        #expect(run.fileReader.givenUp == run.fileReader.patterns)
        #expect(run.lines(of: "g.a") == ["2 finished g.a cancelled", "4 finished g.a cancelled round 1"])
    }

    // MARK: The thread

    @Test @EventLoopActor func `a hash of real files comes from a thread`() async throws {
        let test = try FlowrunTest(files: ["a": "1", "b": "2"])
        let answer = await withCheckedContinuation { continuation in
            let question = PlacedQuestion(.hash(["*"]), in: test.folder)
            FileThread().begin(FileTask(question)) { continuation.resume(returning: $0) }
        }
        #expect(try answer.get().text == FileHash.hash(["a", "b"], in: test.folder))
    }

    @Test func `what is given up is read no further`() throws {
        let test = try FlowrunTest(files: ["a": String(repeating: "x", count: 1 << 20), "b": "2"])
        var questions = 0
        let hash = try FileHash.hash(["*"], in: test.folder) {
            questions += 1
            return questions > 5
        }
        #expect(hash == nil)
        #expect(questions < 12)
    }
}
