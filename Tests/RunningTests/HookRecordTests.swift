import FlowrunTestSupport
import Processes
import RunLog
import Testing

@testable import Running

/// The starts of hooks that a resumed run knows of, from runs that were killed at any record and from runs beside.
@Suite(.timeLimit(.minutes(20))) struct HookRecordTests {
    init() { EventLoopThread.ensureRunning() }

    private static func text(_ hook: String) -> String {
        "steps: { a: { run: x }, b: { run: x } }\nfinally: { h: { \(hook) } }"
    }

    /// Returns the events of a whole run of one hook.
    @EventLoopActor
    private func events(
        _ hook: String, _ behave: @escaping (String, Int) -> FakeSpawner.Behaviour = { _, _ in FakeSpawner.Behaviour() }
    ) throws -> [RunEvent.Kind] {
        let run = try VirtualRun(Self.text(hook), behave)
        try run.run()
        return run.events.map(\.kind)
    }

    /// Returns the ids of the steps that a run with this hook runs again because a hook has undone them.
    @EventLoopActor
    private func undone(by record: PastRecord, now hook: String) throws -> [String] {
        let run = try VirtualRun(
            Self.text(hook), past: PastResults(run: "earlier", origin: "earlier", record))
        try run.run()
        return run.events.compactMap { event in
            if case .stepRerun(let rerun) = event.kind, rerun.reason == .undone { rerun.step } else { nil }
        }
    }

    private func isStart(_ event: RunEvent.Kind) -> Bool {
        if case .stepStarted(let start) = event { start.step == "finally.h" } else { false }
    }

    private func isEnd(_ event: RunEvent.Kind) -> Bool {
        if case .stepFinished(let end) = event { end.step == "finally.h" } else { false }
    }

    @Test(arguments: [
        ("undoes: [], run: x", "run: x", ["a", "b"]),
        ("run: x", "undoes: [], run: x", []),
        ("undoes: [a], run: x", "undoes: [b], run: x", ["b"]),
        ("undoes: [a], run: [sh, x]", "undoes: [b], run: [sh, x]", ["b"]),
        ("undoes: [a], run: x", "undoes: [b], run: y", ["a"]),
        ("undoes: [a], run: x", "undoes: [b], run: [x]", ["a"]),
    ])
    @EventLoopActor
    func `a kill between the two records of a hook's start leaves its command known`(
        before: String, now: String, again: [String]
    ) throws {
        let events = try events(before)
        let whole = try #require(events.firstIndex(where: isStart))
        for count in [whole, whole + 1, events.count] {
            var record = PastRecord(outputReads: [])
            record.beginRun("earlier")
            for event in events[..<count] { record.note(event) }
            #expect(try undone(by: record, now: now).sorted() == again, "\(count - whole) records after the first")
        }
    }

    @Test(arguments: [false, true]) @EventLoopActor
    func `a hook that was killed at its start counts though a later run does not start it`(isOther: Bool) throws {
        let hook = "if: 'failure()', run: x"
        let failed = try events(hook) { step, _ in FakeSpawner.Behaviour(status: .exited(step == "b" ? 1 : 0)) }
        let passed = try events(hook)
        #expect(!passed.contains(where: isStart))
        var record = PastRecord(outputReads: [])
        record.beginRun("earlier")
        for event in failed.prefix(while: { !isStart($0) }) { record.note(event) }
        // Of the later run only the end of the hook is noted, so that the results are those from before.
        record.beginRun("other", isOther: isOther)
        for event in passed {
            if isOther { record.noteHook(event) } else if isEnd(event) { record.note(event) }
        }
        #expect(try undone(by: record, now: hook) == ["a"])
    }
}
