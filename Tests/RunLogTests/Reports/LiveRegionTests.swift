import FlowrunTestSupport
import RunLog
import Testing

@Suite final class LiveRegionTests {
    private var view = RunView()

    private func event(_ milliseconds: Int, _ kind: RunEvent.Kind, round: Int? = nil) -> RunEvent {
        RunEvent(sequence: 0, wallClock: 0, elapsed: .milliseconds(milliseconds), kind: kind, round: round)
    }

    private func run(steps: Int) -> RunEvent.Kind {
        .runStarted(RunStarted(run: "r", file: "a.yml", name: nil, steps: steps, jobs: 9, version: "1.0"))
    }

    private func start(_ step: String, name: String? = nil, item: String? = nil, view: OutputView? = nil)
        -> RunEvent.Kind
    {
        .stepStarted(
            StepStarted(
                step: step, attempt: 1, pid: 1, command: .script(":"), line: 1, item: item, view: view, name: name))
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

    private func tell(_ reporter: any Reporter, _ event: RunEvent) {
        view.report(event)
        reporter.report(event)
    }

    private func nextRound(_ reporter: any Reporter, _ round: Int) {
        let last = event(round * 1000, .groupRetry(group: "g", round: round - 1, delay: .zero), round: round - 1)
        tell(reporter, last)
        tell(reporter, event(round * 1000, .groupStarted(group: "g"), round: round))
    }

    private func region(on screen: Screen, echo: LiveRegion.Echo = .nowhere) -> LiveRegion {
        LiveRegion(terminal: screen, view: view, echo: echo) { screen.size }
    }

    @Test func `it shows the counts, what has been running longest, and what that wrote last`() {
        let screen = Screen()
        let region = region(on: screen)
        tell(region, event(0, run(steps: 12)))
        for number in 1...8 { tell(region, event(number * 1000, start("step-\(number)"))) }
        tell(region, event(9000, end("step-2", .failure)))
        tell(region, event(9000, StepOutput.text("first\nsecond\n\n", of: "step-3")))
        tell(region, event(9000, StepOutput.text(" 10%\r\u{1B}[K 20% \u{1B}[32mdone\u{1B}[0m\tok", of: "step-4")))
        #expect(region.tick(at: .seconds(70)) == .seconds(71))
        #expect(
            screen.text == [
                "", "[1/12] 7 running, 1 failed, 4 waiting  1m10s", "   1m09s  step-1", "   1m07s  step-3  second",
                "   1m06s  step-4   20% done ok", "   1m05s  step-5", "   1m04s  step-6", "   1m03s  step-7",
                "          and 1 more",
            ])
    }

    @Test func `a line that its program redraws is shown before it ends, and once while the log shows the rest`() {
        for (echo, whole) in [(LiveRegion.Echo.nowhere, "      8s  a  100%"), (.log(.stream), "      8s  a")] {
            view = RunView()
            let screen = Screen(columns: 30)
            let region = region(on: screen, echo: echo)
            #expect(region.showsUnfinishedLines && !Heartbeat(sink: screen, view: view).showsUnfinishedLines)
            tell(region, event(0, run(steps: 1)))
            tell(region, event(0, start("a")))
            var seconds = 0
            for (line, shown) in [
                ("\r 42%", " 42%"), ("\r 42%\r 43%\r", " 43%"), ("\r 44%\r        \r", " 44%"), (" \r ", " 44%"),
                ("\r\u{1B}[2K\u{1B}[32m45\u{1B}[0m%", "45%"), ("\r46\u{8}\u{1B}]0;t", #"46\x08\x1b]0;t"#),
                ("\r" + String(repeating: "#", count: 100), String(repeating: "#", count: 29 - 13)),
            ] {
                seconds += 1
                region.show(unfinished: Array(line.utf8), of: .step("a"))
                _ = region.tick(at: .seconds(seconds))
                #expect(screen.text.last == "      \(seconds)s  a  \(shown)", "\(line.debugDescription)")
            }
            // Its end is an event, and the log's.
            tell(region, event(8000, StepOutput.text("\r 99%\r100%\n", of: "a")))
            _ = region.tick(at: .seconds(8))
            #expect(screen.text.last == whole)
        }
    }

    @Test func `it tells what is left by what is done, and asks for it once, after a second`() {
        let screen = Screen()
        var asked = 0
        let region = LiveRegion(
            terminal: screen, view: view,
            estimate: {
                asked += 1
                return RunEstimate(
                    [("a", 0, 10), ("b", 0, 10), ("c", 10, 100)].map {
                        .init(step: $0.0, start: .seconds($0.1), finish: .seconds($0.2))
                    })
            }, size: { screen.size })
        tell(region, event(0, run(steps: 3)))
        tell(region, event(0, start("a")))
        tell(region, event(0, start("b")))
        tell(region, event(500, end("a")))
        _ = region.tick(at: .milliseconds(500))
        #expect(asked == 0)
        for (seconds, line) in [
            // What has ended early saves time, what takes longer than it should has none left.
            (2, "[1/3] 1 running, 1 waiting  2s, about 1m34s left"),
            (20, "[1/3] 1 running, 1 waiting  20s, about 1m30s left"),
        ] {
            _ = region.tick(at: .seconds(seconds))
            #expect(screen.text[1] == line)
        }
        tell(region, event(21_000, end("b")))
        tell(region, event(21_000, start("c")))
        for (seconds, line) in [
            (23, "[2/3] 1 running, 0 waiting  23s, about 1m28s left"), (111, "[2/3] 1 running, 0 waiting  1m51s"),
        ] {
            _ = region.tick(at: .seconds(seconds))
            #expect(screen.text[1] == line)
        }
        #expect(asked == 1)
    }

    @Test func `a name stands behind the id where it says more`() {
        let screen = Screen()
        let region = region(on: screen)
        tell(region, event(0, run(steps: 3)))
        for (step, name) in [("lint", "Style of all files"), ("ci.unit-tests[linux]", "Unit tests"), ("x", "X")] {
            tell(region, event(0, start(step, name: name)))
        }
        _ = region.tick(at: .seconds(1))
        #expect(
            Set(screen.text.dropFirst(2)) == [
                "      1s  ci.unit-tests[linux]", "      1s  lint (Style of all files)", "      1s  x",
            ])
    }

    @Test func `it does not repeat what the log shows as it comes`() {
        for (echo, view, shows) in [
            (LiveRegion.Echo.nowhere, nil, [true, true]), (.log(nil), nil, [false, true]),
            (.log(.grouped), .live, [false, true]), (.log(nil), .live, [false, false]),
            (.log(.stream), nil, [false, false]), (.log(nil), .quiet, [true, true]),
        ] as [(LiveRegion.Echo, OutputView?, [Bool])] {
            self.view = RunView()
            let screen = Screen()
            let region = region(on: screen, echo: echo)
            tell(region, event(0, run(steps: 3)))
            tell(region, event(0, start("a", view: view)))
            tell(region, event(0, StepOutput.text("said\n", of: "a")))
            _ = region.tick(at: .seconds(1))
            let alone = screen.text.contains { $0.contains("said") }
            tell(region, event(1000, start("b")))
            _ = region.tick(at: .seconds(2))
            #expect([alone, screen.text.contains { $0.contains("said") }] == shows, "\(echo)")
        }
    }

    @Test func `log lines stand above it and nothing of it is left at the end`() {
        let screen = Screen()
        let region = region(on: screen)
        let text = TextReporter(sink: region.sink(over: screen), view: view, options: .init())
        func report(_ milliseconds: Int, _ kind: RunEvent.Kind) {
            view.report(event(milliseconds, kind))
            text.report(event(milliseconds, kind))
            region.report(event(milliseconds, kind))
            _ = region.tick(at: .milliseconds(milliseconds))
        }
        report(0, run(steps: 2))
        report(1, start("a"))
        report(200, start("b"))
        report(400, end("a"))
        #expect(
            screen.text == [
                "flowrun 1.0: a.yml, 2 steps, up to 9 at once", "    0.400  success      0.005s  a", "",
                "[1/2] 1 running, 0 waiting  0s", "      0s  b",
            ])
        report(1400, end("b"))
        report(1500, lastEvent)
        #expect(region.tick(at: .seconds(2)) == nil)
        #expect(
            screen.text == [
                "flowrun 1.0: a.yml, 2 steps, up to 9 at once", "    0.400  success      0.005s  a",
                "    1.400  success      0.005s  b", "success in 9.000s: 2 success",
            ])
    }

    @Test func `it is drawn at most ten times a second and only when something has changed`() {
        let screen = Screen()
        let region = region(on: screen)
        tell(region, event(0, run(steps: 4000)))
        #expect(region.tick(at: .milliseconds(50)) == .milliseconds(100))
        #expect(screen.writes == 0)
        for number in 0..<2000 {
            tell(region, event(number, start("\(number)")))
            tell(region, event(number, StepOutput.text("line \(number)\n", of: "\(number)")))
            tell(region, event(number, end("\(number)")))
            _ = region.tick(at: .milliseconds(number))
        }
        #expect((15...20).contains(screen.writes))
        tell(region, event(2000, start("long")))
        #expect(region.tick(at: .milliseconds(2100)) == .seconds(3))
        let writes = screen.writes
        for number in 2100..<3000 { _ = region.tick(at: .milliseconds(number)) }
        #expect(screen.writes == writes)
        _ = region.tick(at: .seconds(3))
        #expect(screen.writes == writes + 1)
    }

    @Test func `lines are cut to the width, whatever stands in them`() {
        let screen = Screen(columns: 20)
        let region = region(on: screen)
        tell(region, event(0, run(steps: 3)))
        tell(region, event(0, start("a\u{1B}[2J\nb")))
        tell(region, event(1, start("ein-sehr-langer-name")))
        tell(region, event(2, start("名前名前名前")))
        _ = region.tick(at: .milliseconds(100))
        #expect(
            screen.text == [
                "", "[0/3] 3 running, 0", "      0s  a\\x1b[2J\\", "      0s  ein-sehr-", "      0s  名前名前",
            ])
    }

    @Test func `it fits into a terminal of any size, and is drawn anew when that changes`() {
        let screen = Screen(columns: 80, rows: 24)
        let region = region(on: screen)
        tell(region, event(0, run(steps: 40)))
        for number in 10...39 { tell(region, event(0, start("step-\(number)"))) }
        for (columns, rows, lines) in [(80, 24, 8), (200, 50, 14), (40, 10, 4), (20, 4, 3), (10, 2, 1), (80, 24, 8)] {
            screen.resize(columns: columns, rows: rows)
            region.sizeHasChanged()
            _ = region.tick(at: .seconds(rows))
            #expect(screen.terminal.lines.count { !$0.isEmpty } == lines, "\(columns)x\(rows)")
            #expect(screen.terminal.lines.allSatisfy { $0.count < columns })
        }
        region.clear()
        #expect(screen.text == [])
    }

    @Test func `it comes back after it was cleared`() {
        let screen = Screen()
        let region = region(on: screen)
        tell(region, event(0, run(steps: 1)))
        tell(region, event(0, start("a")))
        _ = region.tick(at: .milliseconds(100))
        let shown = screen.text
        region.clear()
        region.clear()
        #expect(screen.text == [])
        #expect(region.tick(at: .milliseconds(150)) == .milliseconds(200))
        _ = region.tick(at: .milliseconds(200))
        #expect(screen.text == shown)
    }

    @Test(arguments: 0..<40)
    func `no line of another program is lost, nor one of the log, at any height of the terminal`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let screen = Screen(columns: 60, rows: 12)
        let region = region(on: screen)
        let log = region.sink(over: screen)
        tell(region, event(0, run(steps: 100)))
        var time = 0
        var lines: [String] = []
        for number in 0..<400 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                lines.append("<foreign \(number)>")
                screen.write(foreign: "<foreign \(number)>\n")
            case 4:
                // What is shown for a while must not tear a line that is not finished yet.
                lines.append("<two parts \(number)>")
                screen.write(foreign: "<two parts ")
                time += 200
                tell(region, event(time, start("s\(number)")))
                _ = region.tick(at: .milliseconds(time))
                screen.write(foreign: "\(number)>\n")
            case 5, 6:
                lines.append("<log \(number)>")
                Array("<log \(number)>\n".utf8).withUnsafeBytes(log.write)
            case 7: screen.resize(columns: 60, rows: Int.random(in: 2...30, using: &generator))
            case 8: tell(region, event(time, end("s\(Int.random(in: 0...number, using: &generator))")))
            default: break
            }
            time += Int.random(in: 0...150, using: &generator)
            _ = region.tick(at: .milliseconds(time))
        }
        region.clear()
        let found = screen.text.compactMap { row in lines.contains { row.hasPrefix($0) } ? row : nil }
        #expect(found.count == lines.count)
        #expect(zip(found, lines).allSatisfy { $0.hasPrefix($1) })
    }

    @Test func `a line that fell on one of its own does not keep the rest of that in the log`() {
        let screen = Screen()
        let region = region(on: screen)
        let log = region.sink(over: screen)
        tell(region, event(0, run(steps: 2)))
        tell(region, event(0, start("a")))
        _ = region.tick(at: .seconds(1))
        screen.write(foreign: "\n")
        Array("short\n".utf8).withUnsafeBytes(log.write)
        #expect(screen.text == ["", "short"])
    }

    @Test func `what a terminal takes only in part is left where it is`() {
        for appetite in 1..<60 {
            let screen = Screen()
            let region = region(on: screen)
            tell(region, event(0, run(steps: 2)))
            tell(region, event(0, start("a")))
            screen.appetite = appetite
            screen.write(foreign: "before\n")
            _ = region.tick(at: .seconds(1))
            screen.write(foreign: "meanwhile\n")
            screen.appetite = .max
            _ = region.tick(at: .seconds(2))
            region.clear()
            let text = screen.text
            #expect(text.first == "before")
            // The letter that ends a torn sequence is the terminal's.
            #expect(text.contains { $0.contains("eanwhile") }, "\(appetite): \(text)")
            #expect(!text.contains { $0.contains("2s") })
        }
    }

    @Test func `it waits while the terminal takes nothing, and while it is another job's`() {
        let screen = Screen()
        var isInBackground = true
        let region = LiveRegion(terminal: screen, view: view) { isInBackground ? nil : screen.size }
        tell(region, event(0, run(steps: 2)))
        tell(region, event(0, start("a")))
        #expect(region.tick(at: .seconds(1)) == .seconds(2))
        #expect(screen.writes == 0)
        isInBackground = false
        screen.appetite = 0
        #expect(region.tick(at: .seconds(2)) == .milliseconds(2100))
        #expect(screen.text == [])
        screen.appetite = .max
        _ = region.tick(at: .milliseconds(2100))
        #expect(screen.text == ["", "[0/2] 1 running, 1 waiting  2s", "      2s  a"])
        isInBackground = true
        let writes = screen.writes
        _ = region.tick(at: .seconds(4))
        region.clear()
        #expect(screen.writes == writes)
    }

    @Test func `a heartbeat names the longest-running steps after a silent minute`() {
        let sink = RecordingSink()
        let heartbeat = Heartbeat(sink: sink, view: view)
        let log = heartbeat.sink(over: RecordingSink())
        tell(heartbeat, event(0, run(steps: 9)))
        for (number, step) in ["a", "b", "c", "d"].enumerated() { tell(heartbeat, event(number * 1000, start(step))) }
        tell(heartbeat, event(5000, end("d", .failure)))
        tell(heartbeat, event(10_000, StepOutput.text("line\n", of: "a")))
        Array("line\n".utf8).withUnsafeBytes(log.write)
        #expect(heartbeat.tick(at: .seconds(11)) == .seconds(70))
        #expect(heartbeat.tick(at: .milliseconds(69_999)) == .seconds(70))
        #expect(sink.records.isEmpty)
        #expect(heartbeat.tick(at: .seconds(70)) == .seconds(130))
        tell(heartbeat, event(80_000, start("e")))
        #expect(heartbeat.tick(at: .seconds(130)) == .seconds(190))
        tell(heartbeat, event(131_000, lastEvent))
        #expect(heartbeat.tick(at: .seconds(500)) == nil)
        #expect(
            sink.text == """
                flowrun: 1m10s, 1 of 9 finished (1 failed), running: a (1m10s), b (1m09s), c (1m08s)
                flowrun: 2m10s, 1 of 9 finished (1 failed), running: a (2m10s), b (2m09s), c (2m08s) and 1 more

                """)
    }

    @Test func `a copy that has a number is shown with its values, as where it ends`() {
        let (screen, sink) = (Screen(), RecordingSink())
        let (region, heartbeat) = (region(on: screen), Heartbeat(sink: sink, view: view))
        for event in [event(0, run(steps: 2)), event(0, start("g[2]", name: "Unit tests", item: "a b"))] {
            tell(region, event)
            heartbeat.report(event)
        }
        _ = (region.tick(at: .seconds(1)), heartbeat.tick(at: .seconds(60)))
        #expect(screen.text.last == "      1s  g[2] (a b: Unit tests)")
        #expect(sink.text == "flowrun: 1m00s, 0 of 2 finished, running: g[2] (a b: Unit tests) (1m00s)\n")
    }

    @Test func `copies that every round adds anew count once`() {
        let sink = RecordingSink()
        let heartbeat = Heartbeat(sink: sink, view: view)
        tell(heartbeat, event(0, run(steps: 1)))
        for round in 0..<3 {
            if round > 0 { nextRound(heartbeat, round) }
            for copy in ["g.each[a]", "g.each[b]"] {
                tell(heartbeat, event(round * 1000, .stepAdded(step: copy, by: "g.each"), round: round))
                tell(heartbeat, event(round * 1000, start(copy), round: round))
                tell(heartbeat, event(round * 1000 + 1, end(copy, .failure), round: round))
            }
        }
        _ = heartbeat.tick(at: .seconds(70))
        #expect(sink.text == "flowrun: 1m10s, 2 of 3 finished (2 failed), nothing running\n")
    }

    @Test func `steps of a group that is tried again count once`() {
        let sink = RecordingSink()
        let heartbeat = Heartbeat(sink: sink, view: view)
        tell(heartbeat, event(0, run(steps: 3)))
        for round in 0..<2 {
            if round > 0 { nextRound(heartbeat, round) }
            tell(heartbeat, event(round * 1000, start("g.a"), round: round))
            tell(heartbeat, event(round * 1000 + 1, end("g.a", .failure), round: round))
            tell(heartbeat, event(round * 1000 + 2, end("g.b", .notRun), round: round))
        }
        nextRound(heartbeat, 2)
        tell(heartbeat, event(3000, start("g.a"), round: 2))
        _ = heartbeat.tick(at: .seconds(70))
        #expect(sink.text == "flowrun: 1m10s, 0 of 3 finished, running: g.a (1m07s)\n")
    }
}
