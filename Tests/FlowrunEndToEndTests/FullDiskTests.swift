import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// A disk without room for the state of a run: the run ends with status 125, after its hooks.
struct FullDiskTests {
    private static let script = "\(PackageFolder.path)/Tests/Scripts/torture_disk.py"

    private static let cannotMount: Comment? = {
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/env")
        probe.arguments = ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
        (probe.standardOutput, probe.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? probe.run()) != nil else { return "unshare is not installed" }
        probe.waitUntilExit()
        return probe.terminationStatus == 0 ? nil : "this user may not mount a file system"
    }()

    /// `make torture` runs two hundred of them.
    @Test(.enabled(if: cannotMount == nil, cannotMount))
    func `hooks run wherever the disk fills up`() async throws {
        let test = try FlowrunTest()
        let result = try await test.run("8", launcher: ["python3", Self.script])
        result.expect(exit: 0)
        #expect(result.stdout.contains("8 of 8"))
    }

    /// The run may write no file that is longer than 4 KiB, so its journal ends before the second step.
    @Test(arguments: [("", 2), ("undoes: [], ", 1)])
    func `a hook that no record has counts as undoing what is known, unless it undoes nothing`(
        undoes: String, count: Int
    ) async throws {
        let long = String(repeating: "x", count: 8000)
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              deploy: { run: echo >> ran }
              verify: { needs: [deploy], run: "test -e ok # \(long)" }
            finally: { back: { \(undoes)run: echo >> hooks } }
            """)
        let limit = #"ulimit -f 4; exec "$0" "$@""#
        let failed = try await test.run("workflow.yml", "--log", "quiet", launcher: ["bash", "-c", limit])
        failed.expect(exit: 125)
        failed.expect(stderr: "the journal is incomplete")
        #expect(try test.contents(of: "hooks") == "\n" && test.contents(of: "ran") == "\n")
        try test.write("", to: "ok")
        let resumed = try await test.runLogged("--resume")
        resumed.expect(exit: 0)
        #expect(try test.contents(of: "ran") == String(repeating: "\n", count: count))
        let words = "could not be written when a hook started, which may have undone results: everything runs"
        #expect((resumed.stderr + resumed.stdout).contains(words) == undoes.isEmpty)
        // The results of the new run count.
        let again = try await test.runLogged("--resume", "--from", "verify")
        again.expect(exit: 0)
        #expect(try again.log().decisions["deploy"] == (undoes.isEmpty ? "undone" : "restored"))
    }
}

/// How much of the output is kept.
struct OutputLimitTests {
    private static let workflow = """
        version: 1
        output-limit: 1MiB
        steps:
          many: { matrix: { n: [1, 2, 3, 4, 5, 6] }, max-parallel: 1, run: seq 1 90000 }
          reads: { needs: [many], run: 'wc -c', stdin: '${{ steps.large.stdout }}' }
          large: { needs: [many], run: seq 1 300000 }
        """

    private func output(_ test: FlowrunTest) throws -> Int {
        let names = try FileManager.default.subpathsOfDirectory(atPath: test.path(".flowrun/runs"))
        return try names.filter { $0.hasSuffix(".log") || $0.contains(".end") }.reduce(0) {
            $0 + (try test.contents(of: ".flowrun/runs/\($1)").utf8.count)
        }
    }

    @Test func `a run keeps no more output than its limit, and replay names what is gone`() async throws {
        let workflow = Self.workflow.replacing("needs: [many], run: 'wc", with: "needs: [large], run: 'wc")
        let test = try FlowrunTest(workflow)
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        // Values that are handed on are whole.
        #expect(log.output(of: "reads") == "1988895\n")
        #expect(log.all("warning").map { $0["code"]?.string } == ["output-limit"])
        let kept = try output(test)
        #expect(kept <= (1 << 20) + 8 * (128 << 10), "\(kept)")
        let replay = try await test.ask("replay", "--log", "json")
        replay.expect(exit: 0)
        let gone = replay.stderr
        #expect(gone.contains("output was not kept: ") && gone.contains(" of `many[1]`") && gone.contains("`large`"))
        #expect(!gone.contains("`reads`"))
        for step in (1...6).map({ "many[\($0)]" }) {
            #expect(try replay.log().output(of: step).hasSuffix("\n89999\n90000\n"))
        }
        #expect(try replay.log().output(of: "large").hasSuffix("\n299999\n300000\n"))
        // Its output, which is read, is not whole.
        let again = try await test.runLogged("--resume")
        again.expect(exit: 0)
        #expect(try again.log().all("step.rerun").map { $0["step"]?.string } == ["large", "reads"])
    }

    @Test func `the option wins over the file, and room for all keeps all`() async throws {
        let test = try FlowrunTest(Self.workflow.replacing("needs: [many], run: 'wc", with: "needs: [large], run: 'wc"))
        let result = try await test.runLogged("--output-limit", "64MiB")
        #expect(try result.log().all("warning").isEmpty)
        let replay = try await test.ask("replay", "--log", "json")
        replay.expect(exit: 0, stderr: "")
        #expect(try replay.log().output(of: "large") == result.log().output(of: "large"))
        let wrong = try await test.run("workflow.yml", "--output-limit", "64MB")
        wrong.expect(exit: 64)
        wrong.expect(stderr: "--output-limit 64MB: expected a size such as `512KiB`, `64MiB` or `1GiB`")
    }
}
