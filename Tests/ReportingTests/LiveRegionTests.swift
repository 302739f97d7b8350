import Reporting
import RunEvents
import Testing

@Suite struct LiveRegionTests {
    private func event(_ milliseconds: Int, _ kind: RunEvent.Kind, round: Int? = nil) -> RunEvent {
        RunEvent(sequence: 0, wallClock: 0, elapsed: .milliseconds(milliseconds), kind: kind, round: round)
    }

    private func run(steps: Int) -> RunEvent.Kind {
        .runStarted(RunStarted(run: "r", file: "a.yml", name: nil, steps: steps, jobs: 9, version: "1.0"))
    }

    private func start(_ step: String) -> RunEvent.Kind {
        .stepStarted(StepStarted(step: step, attempt: 1, pid: 1, command: .script(":"), line: 1))
    }

    private func end(_ step: String, _ outcome: StepOutcome = .success) -> RunEvent.Kind {
        .stepFinished(StepFinished(step: step, attempt: 1, outcome: outcome, duration: .milliseconds(5)))
    }

    private var lastEvent: RunEvent.Kind {
        .runFinished(
            RunFinished(
                outcome: .success, duration: .seconds(9), counts: OutcomeCounts([.success: 2]), errors: [],
                tolerated: [],
                cancelled: [], notRun: []))
    }

    @Test func `it shows the counts and what has been running longest`() {
        let screen = Screen(width: 60)
        let region = LiveRegion(terminal: screen, width: { 60 })
        region.report(event(0, run(steps: 12)))
        for number in 1...7 { region.report(event(number * 1000, start("step-\(number)"))) }
        region.report(event(8000, end("step-2", .failure)))
        #expect(region.tick(at: .seconds(70)) == .seconds(71))
        #expect(
            screen.lines == [
                "[1/12] 6 running, 1 failed, 5 waiting  1m10s", "   1m09s  step-1", "   1m07s  step-3",
                "   1m06s  step-4", "   1m05s  step-5", "   1m04s  step-6", "          and 1 more",
            ])
    }

    @Test func `log lines stand above it and nothing of it is left at the end`() {
        let screen = Screen(width: 60)
        let region = LiveRegion(terminal: screen, width: { 60 })
        let text = TextReporter(sink: region.sink(over: screen), options: .init())
        func report(_ milliseconds: Int, _ kind: RunEvent.Kind) {
            text.report(event(milliseconds, kind))
            region.report(event(milliseconds, kind))
            _ = region.tick(at: .milliseconds(milliseconds))
        }
        report(0, run(steps: 2))
        report(1, start("a"))
        report(200, start("b"))
        report(400, end("a"))
        #expect(
            screen.lines == [
                "flowrun 1.0: a.yml, 2 steps, up to 9 at once", "    0.400  success      0.005s  a",
                "[1/2] 1 running, 0 waiting  0s", "      0s  b",
            ])
        report(1400, end("b"))
        report(1500, lastEvent)
        #expect(region.tick(at: .seconds(2)) == nil)
        #expect(
            screen.lines == [
                "flowrun 1.0: a.yml, 2 steps, up to 9 at once", "    0.400  success      0.005s  a",
                "    1.400  success      0.005s  b", "success in 9.000s: 2 success", "",
            ])
    }

    @Test func `it is drawn at most ten times a second and only when something has changed`() {
        let screen = Screen(width: 60)
        let region = LiveRegion(terminal: screen, width: { 60 })
        region.report(event(0, run(steps: 4000)))
        #expect(region.tick(at: .milliseconds(50)) == .milliseconds(100))
        #expect(screen.writes == 0)
        for number in 0..<2000 {
            region.report(event(number, start("\(number)")))
            region.report(event(number, end("\(number)")))
            _ = region.tick(at: .milliseconds(number))
        }
        #expect((15...20).contains(screen.writes))
        region.report(event(2000, start("long")))
        #expect(region.tick(at: .milliseconds(2100)) == .seconds(3))
        let writes = screen.writes
        for number in 2100..<3000 { _ = region.tick(at: .milliseconds(number)) }
        #expect(screen.writes == writes)
        _ = region.tick(at: .seconds(3))
        #expect(screen.writes == writes + 1)
    }

    @Test func `lines are cut to the width, whatever stands in them`() {
        let screen = Screen(width: 20)
        let region = LiveRegion(terminal: screen, width: { 20 })
        region.report(event(0, run(steps: 3)))
        region.report(event(0, start("a\u{1B}[2J\nb")))
        region.report(event(1, start("ein-sehr-langer-name")))
        region.report(event(2, start("名前名前名前")))
        _ = region.tick(at: .milliseconds(100))
        #expect(
            screen.lines == [
                "[0/3] 3 running, 0 ", "      0s  a\\x1b[2J\\", "      0s  ein-sehr-", "      0s  名前名前",
            ])
    }

    @Test func `it goes away whole from a terminal that has become narrower`() {
        let screen = Screen(width: 20)
        var width = 60
        let region = LiveRegion(terminal: screen, width: { width })
        region.report(event(0, run(steps: 3)))
        region.report(event(0, start("a-rather-long-name")))
        _ = region.tick(at: .milliseconds(100))
        #expect(screen.lines.count == 4)
        width = 20
        region.clear()
        #expect(screen.lines == [""])
    }

    @Test func `it comes back after it was cleared`() {
        let screen = Screen(width: 60)
        let region = LiveRegion(terminal: screen, width: { 60 })
        region.report(event(0, run(steps: 1)))
        region.report(event(0, start("a")))
        _ = region.tick(at: .milliseconds(100))
        let shown = screen.lines
        region.clear()
        region.clear()
        #expect(screen.lines == [""])
        #expect(region.tick(at: .milliseconds(150)) == .milliseconds(200))
        _ = region.tick(at: .milliseconds(200))
        #expect(screen.lines == shown)
    }

    @Test func `a heartbeat names the longest-running steps after a silent minute`() {
        let sink = RecordingSink()
        let heartbeat = Heartbeat(sink: sink)
        let log = heartbeat.sink(over: RecordingSink())
        heartbeat.report(event(0, run(steps: 9)))
        for (number, step) in ["a", "b", "c", "d"].enumerated() { heartbeat.report(event(number * 1000, start(step))) }
        heartbeat.report(event(5000, end("d", .failure)))
        heartbeat.report(event(10_000, StepOutput.text("line\n", of: "a")))
        Array("line\n".utf8).withUnsafeBytes(log.write)
        #expect(heartbeat.tick(at: .seconds(11)) == .seconds(70))
        #expect(heartbeat.tick(at: .milliseconds(69_999)) == .seconds(70))
        #expect(sink.records.isEmpty)
        #expect(heartbeat.tick(at: .seconds(70)) == .seconds(130))
        heartbeat.report(event(80_000, start("e")))
        #expect(heartbeat.tick(at: .seconds(130)) == .seconds(190))
        heartbeat.report(event(131_000, lastEvent))
        #expect(heartbeat.tick(at: .seconds(500)) == nil)
        #expect(
            sink.text == """
                flowrun: 1m10s, 1 of 9 finished (1 failed), running: a (1m10s), b (1m09s), c (1m08s)
                flowrun: 2m10s, 1 of 9 finished (1 failed), running: a (2m10s), b (2m09s), c (2m08s) and 1 more

                """)
    }

    @Test func `steps of a group that is tried again count once`() {
        let sink = RecordingSink()
        let heartbeat = Heartbeat(sink: sink)
        heartbeat.report(event(0, run(steps: 3)))
        for round in 0..<2 {
            heartbeat.report(event(round * 1000, start("g.a"), round: round))
            heartbeat.report(event(round * 1000 + 1, end("g.a", .failure), round: round))
            heartbeat.report(event(round * 1000 + 2, end("g.b", .notRun), round: round))
        }
        heartbeat.report(event(3000, start("g.a"), round: 2))
        _ = heartbeat.tick(at: .seconds(70))
        #expect(sink.text == "flowrun: 1m10s, 1 of 3 finished, running: g.a (1m07s)\n")
    }
}
