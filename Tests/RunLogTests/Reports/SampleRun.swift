import FlowrunTestSupport
import RunLog
import Workflow

/// Numbers events as a run does; each stands `milliseconds` after the start.
struct EventLog {
    private(set) var events: [RunEvent] = []

    mutating func add(_ kind: RunEvent.Kind, at milliseconds: Int) {
        events.append(
            RunEvent(
                sequence: events.count, wallClock: 1_767_225_600_000_000 + Int64(milliseconds) * 1000,
                elapsed: .milliseconds(milliseconds), kind: kind))
    }

    func report(to reporter: some Reporter) {
        for event in events { reporter.report(event) }
    }
}

extension Cause {
    static func exit(_ status: ExitStatus, of step: String, line: Int) -> Cause {
        let kind: Kind = if case .exited = status { .exit } else { .signal }
        return Cause(kind: kind, message: "\(status)", subject: .step(step), file: "release.yml", line: line)
    }

    static func ruledOut(_ step: String, by need: String, line: Int, root: Cause) -> Cause {
        Cause(
            kind: .dependency, message: "needs \(need)", subject: .step(step), file: "release.yml", line: line,
            next: .because(root))
    }
}

extension StepOutput {
    static func text(
        _ text: String, of step: String, on stream: Stream = .stdout, isPartial: Bool = false
    ) -> RunEvent.Kind {
        .stepOutput(
            StepOutput(
                step: step, attempt: 1, stream: stream, bytes: lasting(Array(text.utf8)), isPartial: isPartial))
    }
}

/// What an event lends, in memory that lasts as long as the tests.
func lasting(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    copy.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(copy)
}

/// A run in which everything that the vocabulary can say happens at least once.
func sampleRun() -> EventLog {
    var log = EventLog()
    let usage = ResourceUsage(maxResident: 2048, user: .microseconds(1500), system: .milliseconds(2))
    func started(_ step: String, line: Int, _ command: StepStarted.Command = .script("make")) -> RunEvent.Kind {
        .stepStarted(StepStarted(step: step, attempt: 1, pid: 100 + Int32(line), command: command, line: line))
    }
    let crash = Cause.exit(.signalled(11), of: "build[x86].crash", line: 12)
    let lint = Cause.exit(.exited(2), of: "lint", line: 31)
    let flaky = Cause.exit(.exited(1), of: "flaky", line: 40)
    let late = Cause(
        kind: .timeout, message: "timed out after 1s", subject: .step("slow"), file: "release.yml", line: 50)
    let runLimit = Cause(kind: .timeout, message: "timed out after 3s", subject: .run)
    let stopped = Cause(
        kind: .failFast, message: "fail-fast of group build[x86]", subject: .group("build[x86]"), file: "release.yml",
        line: 9, next: .because(crash))

    log.add(
        .runStarted(
            RunStarted(
                run: "01J", file: "release.yml", name: "release-check", steps: 8, jobs: 4, version: "1.0",
                params: [.init(name: "channel", json: #""stable""#), .init(name: "count", json: "3")])),
        at: 0)
    log.add(.warning(code: "slow-disk", message: "the log is slow"), at: 1)
    log.add(.groupStarted(group: "build[x86]"), at: 1)
    log.add(started("build[x86].compile", line: 10, .arguments(["make", "-j", "all"])), at: 2)
    log.add(started("build[x86].crash", line: 12), at: 2)
    log.add(started("lint", line: 31), at: 3)
    log.add(StepOutput.text("CC a.c\n", of: "build[x86].compile"), at: 4)
    log.add(StepOutput.text("lint: a.c:3: unused\n", of: "lint", on: .stderr), at: 5)
    log.add(StepOutput.text("a.c: warning\n\nLD a\n", of: "build[x86].compile", on: .stderr), at: 6)
    log.add(.stepAttempt(step: "lint", attempt: 1, status: .exited(2)), at: 802)
    log.add(
        .stepFinished(
            StepFinished(
                step: "lint", attempt: 1, outcome: .failure, status: .exited(2), duration: .milliseconds(799),
                cause: lint, process: ProcessReport(outputBytes: 20, usage: usage, containment: "session"))),
        at: 803)
    log.add(.stepAttempt(step: "build[x86].crash", attempt: 1, status: .signalled(11)), at: 900)
    log.add(
        .stepFinished(
            StepFinished(
                step: "build[x86].crash", attempt: 1, outcome: .failure, status: .signalled(11),
                duration: .milliseconds(898), cause: crash,
                process: ProcessReport(
                    usage: usage, outputTruncated: "held_open", containment: "session", leftBehind: 2))),
        at: 901)
    log.add(.groupCancelRequested(group: "build[x86]", cause: stopped), at: 902)
    log.add(.stepCancelRequested(step: "build[x86].compile", attempt: 1, cause: stopped), at: 902)
    log.add(.stepSignal(step: "build[x86].compile", attempt: 1, signal: "SIGTERM"), at: 902)
    log.add(.stepAttempt(step: "build[x86].compile", attempt: 1, status: .signalled(15)), at: 910)
    log.add(
        .stepFinished(
            StepFinished(
                step: "build[x86].compile", attempt: 1, outcome: .cancelled, status: .signalled(15),
                duration: .milliseconds(908), cause: stopped,
                process: ProcessReport(outputBytes: 25, usage: usage, containment: "session"))),
        at: 911)
    log.add(
        .groupFinished(
            GroupFinished(
                group: "build[x86]", outcome: .failure, duration: .milliseconds(910),
                cause: Cause(
                    kind: .member, message: "failed", subject: .group("build[x86]"), file: "release.yml",
                    line: 9, next: .because(crash)),
                errors: ["build[x86].crash"], cancelled: ["build[x86].compile"], notRun: [])),
        at: 911)
    for step in ["publish", "report"] {
        log.add(
            .stepFinished(
                StepFinished(
                    step: step, attempt: 0, outcome: .notRun,
                    cause: .ruledOut(step, by: "lint", line: 60, root: lint))),
            at: 912)
    }
    log.add(started("flaky", line: 40), at: 913)
    log.add(.stepAttempt(step: "flaky", attempt: 1, status: .exited(1)), at: 920)
    log.add(
        .stepFinished(
            StepFinished(
                step: "flaky", attempt: 1, outcome: .failure, status: .exited(1), duration: .milliseconds(7),
                cause: flaky, process: ProcessReport(usage: usage, containment: "session"), isTolerated: true)),
        at: 921)
    log.add(started("slow", line: 50), at: 921)
    log.add(.stepCancelRequested(step: "slow", attempt: 1, cause: late), at: 1921)
    log.add(.stepSignal(step: "slow", attempt: 1, signal: "SIGTERM"), at: 1921)
    log.add(StepOutput.text("stopping", of: "slow", isPartial: true), at: 1922)
    log.add(.stepAttempt(step: "slow", attempt: 1, status: .exited(0)), at: 1923)
    log.add(
        .stepFinished(
            StepFinished(
                step: "slow", attempt: 1, outcome: .timeout, status: .exited(0), duration: .milliseconds(1002),
                cause: late, process: ProcessReport(outputBytes: 8, usage: usage, containment: "session"))),
        at: 1924)
    log.add(.runPaused(source: "ctl"), at: 2000)
    log.add(.runJobs(jobs: 2, source: "ctl"), at: 2100)
    log.add(.runResumed(source: "ctl"), at: 2200)
    log.add(
        .runCancelRequested(
            RunStopping(source: "timeout", cause: runLimit, steps: ["late"], grace: .seconds(10))), at: 3000)
    log.add(
        .stepFinished(
            StepFinished(
                step: "broken", attempt: 1, outcome: .failure,
                cause: Cause(
                    kind: .spawn, message: "cannot start `/nowhere`: no such file or directory",
                    subject: .step("broken"), file: "release.yml", line: 70),
                process: ProcessReport(errno: 2))),
        at: 3001)
    log.add(
        .runFinished(
            RunFinished(
                outcome: .failure, duration: .milliseconds(3002),
                counts: OutcomeCounts([.failure: 4, .timeout: 1, .cancelled: 1, .notRun: 2]),
                errors: [
                    .init(
                        step: "lint", group: nil, outcome: .failure, cause: lint, file: "release.yml", line: 31,
                        status: .exited(2), outputTail: Array("lint: a.c:3: unused\n".utf8)),
                    .init(
                        step: "build[x86].crash", group: nil, outcome: .failure, cause: crash, file: "release.yml",
                        line: 12, status: .signalled(11), outputTail: []),
                    .init(
                        step: "slow", group: nil, outcome: .timeout, cause: late, file: "release.yml", line: 50,
                        status: .exited(0), outputTail: Array("stopping".utf8)),
                    .init(
                        step: nil, group: nil, outcome: .timeout, cause: runLimit, file: "release.yml", line: nil,
                        status: nil, outputTail: []),
                ],
                tolerated: ["flaky"], cancelled: ["build[x86].compile"], notRun: ["publish", "report"])),
        at: 3002)
    return log
}

/// One of each event that `sampleRun` has no place for.
func rareEvents() -> EventLog {
    var log = EventLog()
    log.add(.stepAdded(step: "build[x86].compile", by: "build"), at: 0)
    log.add(.ready(.step("lint")), at: 0)
    log.add(.ready(.group("build[x86]")), at: 0)
    log.add(.waiting(.step("lint"), on: "disk"), at: 0)
    log.add(.waiting(.group("build[x86]"), on: nil), at: 0)
    log.add(.lockAcquired(name: "disk", by: .step("lint")), at: 1)
    log.add(.lockReleased(name: "disk", by: .group("build[x86]")), at: 1)
    log.add(.stepRetry(step: "lint", attempt: 1, delay: .milliseconds(1500)), at: 2)
    log.add(.groupRetry(group: "build[x86]", round: 0, delay: .zero), at: 3)
    log.add(
        .stepRestored(
            StepRestored(
                step: "fetch", outputs: [LoggedValue(name: "n", json: "3")], item: "x86", name: "Fetch",
                definition: "0123", standardOutput: Array("three\n".utf8))), at: 4)
    log.add(.stepRerun(step: "lint", reason: .outcome), at: 4)
    log.add(.stepUndoes(step: "finally.clean", Undoing(body: "", members: nil)), at: 4)
    log.add(.stepUndoes(step: "build[x86].finally.tell", Undoing(body: "build[x86]", members: ["compile"])), at: 4)
    let version = ValueID(name: "version", group: nil)
    let image = ValueID(name: "image", group: "build[x86]")
    log.add(.valueStarted(ValueStarted(value: version, pid: 4, command: .script("git describe"), line: 3)), at: 5)
    log.add(.valueStarted(ValueStarted(value: image, pid: 5, command: .arguments(["echo", "x"]), line: 9)), at: 5)
    let text = lasting(Array("v1.2-3-gabc\n".utf8))
    log.add(.stepOutput(StepOutput(.value(version), stream: .stdout, bytes: text, isPartial: false)), at: 24)
    log.add(
        .valueFinished(
            ValueFinished(
                value: version, outcome: .success, status: .exited(0), duration: .milliseconds(20),
                process: ProcessReport(
                    outputBytes: 12,
                    usage: ResourceUsage(maxResident: 1000, user: .milliseconds(2), system: .milliseconds(1)),
                    containment: "cgroup"))), at: 25)
    log.add(
        .valueFinished(
            ValueFinished(
                value: image, outcome: .timeout, status: .signalled(15), duration: .seconds(1),
                cause: Cause(
                    kind: .timeout, message: "timed out after 1s", subject: .sharedValue("image"), file: "flow.yml",
                    line: 9),
                process: ProcessReport(
                    outputTruncated: "held_open", droppedBytes: 3, containment: "guard", escaped: 1, leftBehind: 2,
                    isOutOfMemory: true, errno: 2))), at: 1005)
    return log
}

extension OutcomeCounts {
    init(_ numbers: [StepOutcome: Int]) {
        self.init()
        for (outcome, number) in numbers { self[outcome] = number }
    }
}
