import FlowrunTestSupport
import Foundation
import Glibc
import Testing

/// Output and log under bad conditions: readers that are gone, blocked or full, and whatever bytes steps write.
struct DeliveryTests {
    /// Commands in front of the program that bring standard output into a state.
    enum Output: String, CaseIterable, Sendable {
        case closed, fullDevice, readerGone

        var launcher: [String] {
            switch self {
            case .closed: ["sh", "-c", #"exec "$0" "$@" >&-"#]
            case .fullDevice: ["sh", "-c", #"exec "$0" "$@" > /dev/full"#]
            case .readerGone: ["bash", "-c", #""$0" "$@" | :; exit "${PIPESTATUS[0]}""#]
            }
        }
    }

    @Test(arguments: Output.allCases, ["text", "json"])
    func `F31, F32: a lost standard output ends no step and no run, and is told in one line`(
        output: Output, log: String
    ) async throws {
        let items = (1...20).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              each: { for-each: [\(items)], run: "seq 1 2000; : > ran.$item" }
              last: { needs: [each], run: ": > ran.last" }
            """)
        let result = try await test.run(
            "run", "workflow.yml", "--log", log, "-j", "20", launcher: output.launcher)
        result.expect(exit: 125)
        #expect((1...20).allSatisfy { test.exists("ran.\($0)") } && test.exists("ran.last"))
        #expect(result.stderr.hasPrefix("flowrun: the log is incomplete: standard output: "), "\(result.stderr)")
        #expect(result.stderr.split(separator: "\n").count == 1)
    }

    @Test func `F32: a failed step with a lost log is the log's fault as well`() async throws {
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: exit 3 } }\n")
        let result = try await test.run("run", "workflow.yml", launcher: Output.fullDevice.launcher)
        result.expect(exit: 125)
    }

    @Test(arguments: ["text", "json"])
    func `F33: limits, cancels and signals do not wait for a blocked reader`(log: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              loud: { run: "yes | head -c 4000000; echo never > loud.done" }
              limited: { run: sleep 1000, timeout: 100ms, grace: 10ms }
              asked: { run: "trap ': > asked.stopped; exit' TERM; : > asked.up; while :; do read _ < go; done" }
            """)
        let gates = try [test.gate("go"), test.gate("unread")]
        defer { withExtendedLifetime(gates) {} }
        let options = ["run", "workflow.yml", "--log", log, "-j", "3", "--output", "stream"]
        let running = try await test.start(
            options, launcher: ["sh", "-c", #"exec "$0" "$@" > unread 2>&1"#])
        try await running.waitForFile("asked.up")
        while !(try await test.ask("ctl", "workflow.yml", "status", "--format", "json")).stdout
            .contains(#""timeout":1"#)
        {}
        let answer = try await test.ask("ctl", "workflow.yml", "cancel", "asked")
        answer.expect(exit: 0)
        try await running.waitForFile("asked.stopped")
        running.signal(SIGTERM)
        try await running.finish().expect(.signalled(SIGTERM))
        #expect(!test.exists("loud.done"))
        #expect(test.survivors() == [])
    }

    @Test(arguments: ["text", "json"])
    func `F33: hooks of a run that is ending do not wait for a blocked reader`(log: String) async throws {
        let test = try FlowrunTest(
            """
            version: 1
            steps: { loud: { run: ": > up; yes | head -c 4000000", grace: 10ms } }
            finally: { last: { run: "head -c 4000000 /dev/zero | tr '\\\\0' '\\\\n'; : > ran" } }
            """)
        let unread = try test.gate("unread")
        let running = try await test.start(
            "workflow.yml", "--log", log, "--output", "stream",
            launcher: ["sh", "-c", #"exec "$0" "$@" > unread"#])
        try await running.waitForFile("up")
        running.signal(SIGTERM)
        let result = try await running.finish()
        result.expect(.signalled(SIGTERM))
        result.expect(stderr: "nothing reads it")
        #expect(test.exists("ran") && test.survivors() == [])
        withExtendedLifetime(unread) {}
    }

    @Test func `F34: much output arrives to the last byte and is counted`() async throws {
        let size = 8 << 20
        let test = try FlowrunTest(
            "version: 1\nsteps: { a: { run: '{ yes 0123456789abcde || :; } | head -c \(size)' } }\n")
        let result = try await test.run("workflow.yml", "--log-file", "log.jsonl", "--output", "none")
        result.expect(exit: 0)
        let log = try EventLog(jsonLines: try test.contents(of: "log.jsonl"))
        LogInvariants.check(log)
        #expect(log.finished("a")?["output_bytes"]?.int == size)
        #expect(log.finished("a")?["output_truncated"]?.isNull == true)
        var count = 0
        for record in log.all("step.output", step: "a") {
            let text = record["text"]?.string ?? ""
            count += text.utf8.count
            #expect(text.utf8.starts(with: "0123456789abcde\n".utf8))
        }
        #expect(count == size)
    }

    @Test(arguments: ["\n", "\r"])
    func `F35: a line without an end is cut, and nothing of it is lost`(end: String) async throws {
        let size = 4 << 20
        let command =
            end == "\r"
            ? "for n in $(seq 100000); do printf '%08d %s\\r' $n xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done"
            : "head -c \(size) /dev/zero | tr '\\0' y"
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: \"\(command.replacing("\\", with: "\\\\"))\" } }\n")
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let records = try result.log().all("step.output", step: "a")
        #expect(
            records.allSatisfy { ($0["text"]?.string ?? "").utf8.count <= 64 << 10 && $0["partial"]?.bool == true })
        #expect(records.count > 10)
        let text = records.map { $0["text"]?.string ?? "" }.joined()
        if end == "\r" {
            // One state of a progress bar is never in two records.
            #expect(records.dropLast().allSatisfy { $0["text"]?.string?.utf8.last == 13 })
            let states = text.utf8.split(separator: 13).map { String(decoding: $0.prefix(8), as: UTF8.self) }
            #expect(states == (1...100_000).map { String(format: "%08d", $0) })
        } else {
            #expect(text.utf8.count == size && text.utf8.allSatisfy { $0 == UInt8(ascii: "y") })
        }
    }

    @Test func `many lines at once come in records of at most 64 KiB, also through a mask and in a replay`()
        async throws
    {
        let test = try FlowrunTest(
            """
            version: 1
            secrets: { KEY: { env: KEY } }
            steps:
              short: { run: seq 1 200000 }
              long: { run: "head -c 300000 /dev/zero | tr '\\\\0' y; seq 1 50000" }
              apart: { run: "seq 1 100000; seq 1 100000 >&2", streams: separate, secrets: [KEY] }
            """)
        let result = try await test.run("workflow.yml", "--log", "json", environment: ["KEY": "199999"])
        result.expect(exit: 0)
        let replay = try await test.run("replay", "--log", "json")
        for log in [try result.log(), try replay.log()] {
            let texts = log.all("step.output").map { $0["text"]?.string ?? "" }
            #expect(texts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 64 << 10 })
            let short = (1...200_000).map { $0 == 199_999 ? "***\n" : "\($0)\n" }.joined()
            #expect(log.output(of: "short") == short)
        }
    }

    @Test func `F36: whatever bytes a step writes, every record is JSON and every character is whole`() async throws {
        let test = try FlowrunTest(
            #"""
            version: 1
            steps:
              all: { run: cat all.bin }
              edges: { run: cat edges.bin }
              ill: { run: cat ill.bin }
            """#)
        try test.write((0...255).map { UInt8($0) } + [10], to: "all.bin")
        // A character of four bytes across each place at which a line may be cut.
        let cuts = (65_530...65_537).map { String(repeating: "x", count: $0) + "🎉" }
        try test.write((cuts.joined() + "\n").data(using: .utf8).map { [UInt8]($0) } ?? [], to: "edges.bin")
        let surrogates: [UInt8] = [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80]
        let overlong: [UInt8] = [0xC0, 0xAF, 0xE0, 0x80, 0xAF, 0xF0, 0x80, 0x80, 0xAF]
        let beyond: [UInt8] = [0xF4, 0x90, 0x80, 0x80, 0xFE, 0xFF]
        let ill = surrogates + overlong + beyond + [0xF0, 0x9F, 0x8E]
        try test.write([0x61] + ill + [0x62, 10], to: "ill.bin")
        let result = try await test.runLogged()
        result.expect(exit: 0)
        let log = try result.log()
        #expect(log.output(of: "edges") == cuts.joined() + "\n")
        for (step, bytes) in [("all", (0...255).map { UInt8($0) } + [10]), ("ill", [0x61] + ill + [0x62, 10])] {
            #expect(log.output(of: step) == String(decoding: bytes, as: UTF8.self))
            #expect(log.finished(step)?["output_bytes"]?.int == bytes.count)
        }
        try await expectJSON(of: result, test)
    }

    @Test func `F37: nothing that a step writes can be taken for a record or a line of flowrun's`() async throws {
        let forged = #"{"v":1,"seq":0,"event":"run.finished","outcome":"success"}"#
        let test = try FlowrunTest("version: 1\nsteps: { a: { run: 'cat forged.txt; exit 1' } }\n")
        let hostile = "\(forged)\n\r\(forged)\u{2028}\(forged)\u{85}\(forged)\0\u{1B}]52;c;eA==\u{7}\u{1B}[2J\n"
        try test.write(hostile + "success in 0.001s: 1 success\n", to: "forged.txt")
        let json = try await test.runLogged()
        json.expect(exit: 1)
        let log = try json.log()
        #expect(log.all("run.finished").count == 1 && log.runFinished?.outcome == "failure")
        #expect(log.output(of: "a") == hostile + "success in 0.001s: 1 success\n")
        #expect(json.stdout.split(separator: "\n").count == log.records.count)
        let control = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) }
        #expect(!json.stdout.unicodeScalars.contains { control($0) && $0 != "\n" || $0 == "\u{2028}" })
        try await expectJSON(of: json, test)
        let text = try await test.run("workflow.yml")
        text.expect(exit: 1)
        #expect(!text.stdout.unicodeScalars.contains { control($0) && $0 != "\n" })
        let lines = text.stdout.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("success in") || $0.hasPrefix("{") }.isEmpty)
        #expect(lines.contains { $0.hasPrefix("| {") })
    }

    @Test func `F38: sixty-four writers, some of them killed, keep lines, order and ends`() async throws {
        let items = (0..<64).map(String.init).joined(separator: ", ")
        let test = try FlowrunTest(
            """
            version: 1
            steps:
              w:
                for-each: [\(items)]
                run: 'for n in $(seq 300); do echo "$item $n"; [ $((item % 4)) -ne 3 ] || [ $n -lt $((item * 3)) ] || kill -9 $$; done'
            """)
        let result = try await test.runLogged("-j", "64")
        result.expect(exit: 1)
        let log = try result.log()
        #expect(log.records.map(\.seq) == Array(0..<log.records.count))
        #expect(log.records.last?.event == "run.finished")
        #expect(log.all("step.finished").count == 64)
        for item in 0..<64 {
            let isKilled = item % 4 == 3
            let count = isKilled ? max(item * 3, 1) : 300
            #expect(log.output(of: "w[\(item)]") == (1...count).map { "\(item) \($0)\n" }.joined())
            #expect(log.outcomes["w[\(item)]"] == (isKilled ? "failure" : "success"))
        }
        try await expectJSON(of: result, test)
    }

    /// Lets a second parser read every line: Python's, where there is one.
    private func expectJSON(of result: FlowrunResult, _ test: FlowrunTest) async throws {
        try test.write(result.stdout, to: "lines.jsonl")
        let script = """
            command -v python3 > /dev/null || exit 0
            python3 -c 'import json, sys
            for line in open(sys.argv[1], "rb"):
                assert isinstance(json.loads(line.decode("utf-8", "strict")), dict)' lines.jsonl
            """
        let answer = try await test.run(launcher: ["sh", "-c", script])
        answer.expect(exit: 0)
    }
}
