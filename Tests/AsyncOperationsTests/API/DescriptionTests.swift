import AsyncOperations
import FlowrunTestSupport
import Testing

/// What `print` shows of errors, reports and states.
@Suite(.timeLimit(.minutes(20))) struct DescriptionTests {
    struct Overflow: Error {}

    @Test func `an error says what happened in one line, with the name of whom it concerns`() async throws {
        let failed = AsyncOperation("load") { _ async throws(Overflow) in throw Overflow() }
        try failed.start()
        await #expect { try await failed.value } throws: { "\($0)" == "failed: Overflow()" }
        let dependent = AsyncOperation("show", from: failed.output) { _, _ in }
        try dependent.start()
        await #expect { try await dependent.value } throws: { "\($0)" == "not run because of `load`" }
        let clock = ManualClock()
        let late = hanging("wait", options: .init(timeout: .seconds(10)))
        try late.start(clock: clock)
        await clock.advance(by: .seconds(10))
        await #expect { try await late.value } throws: { "\($0)" == "`wait` timed out after 10.0 seconds" }
        await #expect { try await withTimeout(.zero) {} } throws: { "\($0)" == "timed out after 0.0 seconds" }
        let cancelled = nothing()
        cancelled.cancel()
        await #expect { try await cancelled.value } throws: { "\($0)" == "cancelled: on request" }
        #expect("\(OperationFailure<Never>.skipped)" == "skipped: a dependency did not end as required")
        #expect("\(OperationFailure<Never>.refused(.alreadyFinished(late.id)))" == "refused: `wait` has ended already")
    }

    @Test func `a reason to stop is a phrase that names its cause`() {
        let id = nothing("load").id
        let phrases: [(AsyncOperationContext.CancellationReason, String)] = [
            (.requested, "on request"), (.parent(id), "the enclosing `load` was cancelled"),
            (.sibling(id), "`load` beside it has failed"), (.deadline(id), "the time limit of `load` has passed"),
            (.shutdown, "its queue was shut down"), (.abandoned, "nothing was left that could finish it"),
            (.neverStarted, "it was never started"),
            (.waiter, "the waiting task was cancelled"),
        ]
        for (reason, phrase) in phrases { #expect("\(reason)" == phrase) }
    }

    @Test func `states and outcomes are words, also inside of other values`() {
        let states: [OperationState] = [.pending, .ready, .executing, .finished]
        #expect("\(states)" == "[pending, ready, executing, finished]")
        let outcomes: [OperationOutcome] = [.success, .failure, .timeout, .cancelled, .skipped, .notRun]
        #expect("\(outcomes)" == "[success, failure, timeout, cancelled, skipped, not run]")
        #expect("\(OperationProgress(completed: 2, total: 5))" == "2 of 5")
    }

    @Test func `an event says in one line what happened to whom`() async throws {
        let queue = AsyncOperationQueue("crawl", isSuspended: true)
        let events = queue.events()
        let again = OperationOptions(retry: RetryPolicy(attempts: 2))
        let page = AsyncOperation("page", options: again) { context async throws(Overflow) in
            if context.attempt == 1 { throw Overflow() }
            _ = try? context.produce(nothing("link"))
        }
        try queue.add(page)
        queue.resume()
        _ = await page.outcome
        try await queue.shutdown()
        var lines: [String] = []
        for await event in events where event.id != page.id || event.kind != .ready { lines.append("\(event)") }
        let ofPage = ["added", "started", "tried again after 0.0 seconds", "started, attempt 2", "ended: success"]
        #expect(lines.filter { $0.hasPrefix("`page`") } == ofPage.map { "`page`: \($0)" })
        #expect(lines.contains("`link`: added by `page`"))
        #expect(lines.contains("`crawl`: resumed"))
        let stop = AsyncOperationQueue.Event.Kind.cancelRequested(.shutdown)
        #expect("\(stop)" == "told to stop: its queue was shut down")
    }

    @Test func `the failure of a compound operation has a line for each error, at any depth`() async throws {
        let clock = ManualClock()
        let slow = hanging("parts", options: .init(timeout: .seconds(10)))
        let compute = AsyncOperation("compute") { _ async throws(Overflow) in throw Overflow() }
        let upload = try CompoundOperation("upload") { slow }
        let report = AsyncOperation("report", from: compute.output) { _, _ in }
        // Without a name, a compound operation adds nothing to those of its members.
        let unnamed = try CompoundOperation { failing("lint", 4) }
        let nightly = try CompoundOperation("nightly", mode: .serial) {
            compute
            report
            unnamed
            upload
            nothing("fine")
        }
        try nightly.start(clock: clock)
        await clock.advance(by: .seconds(10))
        let lines = """
            `nightly`: 3 failed, 1 not run
                compute: Overflow()
                lint: TestError(number: 4)
                upload.parts: timed out after 10.0 seconds
            """
        await #expect { try await nightly.value } throws: { "\($0)" == lines }
        let reports = nightly.reports.map(\.description)
        #expect(
            Set(reports) == [
                "compute: Overflow()", "report: not run because of `compute`", "\(unnamed.id): 1 failed",
                "upload: \(slow.id) timed out after 10.0 seconds", "fine: success",
            ])
        let late = nightly.reports.first { $0.id == upload.id }
        #expect(late?.limit == .seconds(10) && late?.scope == slow.id)
        #expect(nightly.reports.first { $0.id == compute.id }?.limit == nil)
    }

    @Test func `a compound operation of which nothing failed says so`() async throws {
        let compound = try CompoundOperation("all") { nothing("one") }
        compound.cancel()
        guard case .failure(.cancelled(_, let failure?)) = await compound.result else {
            Issue.record("nothing is known of the members")
            return
        }
        #expect("\(failure)" == "`all`: 1 cancelled")
        #expect("\(compound.reports[0])" == "one: cancelled: the enclosing `all` was cancelled")
    }
}
