import Basics
import FlowrunTestSupport
import Foundation
import Glibc
import RunLog
import Testing

/// What a journal gives back of a run: the same events, so that every reporter shows what it showed live.
@Suite struct ReplayTests {
    private let test: FlowrunTest

    init() throws { test = try FlowrunTest(files: ["run/x": ""]) }

    private func openFolder() throws -> Int32 {
        let folder = open(test.path("run"), O_RDONLY | O_DIRECTORY)
        try #require(folder >= 0)
        return folder
    }

    /// Everything that the vocabulary can say, and what is hard to write down.
    private var events: [RunEvent] {
        var log = EventLog()
        var known: [RunFinished.Failure] = []
        for event in sampleRun().events + rareEvents().events {
            if case .runFinished(let run) = event.kind { known = run.errors } else { log.add(event.kind, at: 4000) }
        }
        let odd = "tab\t nul\0 esc\u{1b}[0m\u{2028}\u{85}\r\n"
        for bytes in [Array(0...255), [0xE2, 0x82], [], Array(odd.utf8)] {
            log.add(
                .stepOutput(
                    StepOutput(step: "late", attempt: 2, stream: .output, bytes: lasting(bytes), isPartial: true)),
                at: 5000)
        }
        for view in [OutputView.live, .grouped, .quiet] {
            log.add(
                .stepStarted(
                    StepStarted(
                        step: "s", attempt: 3, pid: 7, command: .script("a\nb"), line: 1, item: "é,\"", view: view,
                        name: "N")),
                at: 5001)
        }
        log.add(
            .stepFinished(
                StepFinished(
                    step: "out", attempt: 1, outcome: .success, status: .exited(0), duration: .microseconds(1_000_001),
                    outputs: [
                        .init(name: "big", json: "12345678901234567890.10"),
                        .init(name: "o", json: #"{"a":[1,null]}"#),
                    ], item: "1")),
            at: 5002)
        log.add(.stepAttempt(step: "out", attempt: 1, status: .signalled(37)), at: 5003)
        log.add(
            .groupFinished(
                GroupFinished(
                    group: "fan", outcome: .skipped, duration: .zero, cause: nil, errors: [], cancelled: [], notRun: [],
                    outputs: [.init(name: "l", json: "[]")], isExpanded: false)),
            at: 5004)
        let cause = Cause(kind: .expression, message: "no", subject: .sharedValue("v"))
        log.add(
            .runFinished(
                RunFinished(
                    outcome: .failure, duration: .seconds(6), counts: OutcomeCounts([.failure: 1]),
                    errors: known + [
                        .init(
                            step: "s", group: nil, outcome: .failure, cause: cause, file: "f", line: 2,
                            status: .exited(-1), outputTail: [0xFF, 0x0A, 0x00],
                            command: FailedCommand(text: "x", file: "y", line: 3), script: "x\n", outputBytes: 99)
                    ], tolerated: [], cancelled: [], notRun: [], outputs: [.init(name: "o", json: "1")])),
            at: 6000)
        return log.events
    }

    /// Writes the journal; `others` makes reporters that get each event after it.
    private func write(
        _ events: [RunEvent], in folder: Int32, _ others: (JournalWriter) -> [any Reporter] = { _ in [] }
    ) throws {
        let header = JournalHeader {
            ($0.run, $0.file, $0.path, $0.workflow, $0.time) = ("r", "f.yml", "/f.yml", "f.yml", 1)
        }
        let writer = try JournalWriter(in: folder, header)
        let reporters: [any Reporter] = [writer] + others(writer)
        for event in events { for reporter in reporters { reporter.report(event) } }
        writer.flush()
        #expect(writer.failure == nil)
    }

    private func text(
        of events: (@escaping (RunEvent) -> Void) -> Void, _ make: (RecordingSink) -> any Reporter
    ) -> [UInt8] {
        let sink = RecordingSink()
        let reporter = make(sink)
        events { reporter.report($0) }
        return sink.bytes
    }

    @Test func `every event comes back as it was`() throws {
        let folder = try openFolder()
        defer { close(folder) }
        let events = events
        try write(events, in: folder)
        let reader = try #require(try JournalReader(in: folder))
        for event in events {
            var found = false
            _ = reader.next { read in
                found = true
                #expect(read.sequence == event.sequence && read.wallClock == event.wallClock)
                #expect(read.elapsed == event.elapsed)
                if case .stepOutput(let a) = read.kind, case .stepOutput(let b) = event.kind {
                    #expect(Array(a.bytes) == Array(b.bytes) && a.stream == b.stream && a.isPartial == b.isPartial)
                    #expect(a.step == b.step && a.attempt == b.attempt)
                } else {
                    #expect("\(read.kind)" == "\(event.kind)")
                }
            }
            #expect(found)
        }
        #expect(!reader.next { _ in })
        #expect(reader.isFinished && reader.missingOutput == 0)
    }

    @Test func `a log and a journal that share their text are what each writes alone`() throws {
        let folder = try openFolder()
        defer { close(folder) }
        let events = events
        try write(events, in: folder)
        let name = "run/\(JournalWriter.fileName)"
        let journalAlone = try test.contents(of: name)
        #expect(unlink(test.path(name)) == 0)
        let shared = RecordingSink()
        try write(events, in: folder) { [JSONLinesReporter(sink: shared, journal: $0)] }
        #expect(try test.contents(of: name) == journalAlone)
        let logAlone = text(of: { report in events.forEach(report) }) { JSONLinesReporter(sink: $0) }
        #expect(String(decoding: shared.bytes, as: UTF8.self) == String(decoding: logAlone, as: UTF8.self))
    }

    @Test(arguments: [(#""exit_code":3,"signal":null"#, true), (#""exit_code":null,"signal":null"#, false)])
    func `an attempt that ended in no way is no event`(end: String, isOne: Bool) {
        let head = #""v":1,"seq":3,"time":"2026-01-31T23:59:59.000000Z","t":1,"event":"step.attempt""#
        let text = #"{\#(head),"step":"a","attempt":1,\#(end)}"#
        let event = Array(text.utf8).withUnsafeBytes { JSONObject($0) }.flatMap { RunEvent($0) }
        #expect((event != nil) == isOne)
    }

    @Test func `every reporter shows it as it did live`() throws {
        let folder = try openFolder()
        defer { close(folder) }
        let events = events
        try write(events, in: folder)
        var reporters: [(RecordingSink) -> any Reporter] = [
            { JSONLinesReporter(sink: $0) },
            { sink in Viewed { QuietReporter(sink: sink, view: $0, isColored: true) } },
        ]
        for output in OutputMode.allCases.map(Optional.init) + [nil] {
            for isVerbose in [false, true] {
                let options = TextReporter.Options(output: output, isColored: isVerbose, isVerbose: isVerbose)
                reporters.append { sink in Viewed { TextReporter(sink: sink, view: $0, options: options) } }
            }
        }
        for make in reporters {
            let live = text(of: { report in events.forEach(report) }, make)
            let replayed = text(
                of: { report in
                    guard let reader = try? JournalReader(in: folder) else { return }
                    while reader.next(report) {}
                }, make)
            #expect(!live.isEmpty)
            #expect(String(decoding: live, as: UTF8.self) == String(decoding: replayed, as: UTF8.self))
        }
    }
}
