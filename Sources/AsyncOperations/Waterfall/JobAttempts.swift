/// The attempts of one job of a waterfall, in the body of the waterfall's operation.
struct JobAttempts: Sendable {
    /// The end of the attempts.
    enum End: Sendable {
        case value(AnyValueBox)
        case failure(any Error)
        /// A time limit has passed; `underlying` is the error that the job threw when it was stopped.
        case timeout(Duration, underlying: (any Error)?)
        /// Nothing can finish the job any more, or the body must stop.
        case stopped
    }

    let body: BodyControl
    let work: WaterfallJob.Controlled
    let options: JobOptions

    private var timer: Timer { body.queue.timer }

    /// Makes attempts until one succeeds, none is left, or the body must stop.
    func run(on input: AnyValueBox) async -> End {
        var deadline: Duration?
        var attempt = 1
        var last = End.stopped
        while await body.mayGoOn() {
            let now = timer.now
            if attempt == 1 { deadline = options.retry?.deadline.map { now + $0 } }
            if let deadline, now >= deadline { return last }
            last = await run(attempt, on: input, until: deadline)
            guard let delay = delay(after: attempt, last, deadline) else { return last }
            attempt += 1
            // Only a request to stop wakes it earlier.
            if delay > .zero { _ = await timer.sleep(until: timer.now + delay) }
        }
        return .stopped
    }

    /// The wait before the next attempt; nil if there is none.
    private func delay(after attempt: Int, _ end: End, _ deadline: Duration?) -> Duration? {
        guard let retry = options.retry, attempt < retry.attempts, body.reason == nil else { return nil }
        switch end {
        case .failure(let error):
            if options.retriesError?(error) == false { return nil }
        case .timeout: if !retry.retriesTimeout { return nil }
        case .value, .stopped: return nil
        }
        var generator = SystemRandomNumberGenerator()
        let delay = retry.delay(beforeAttempt: attempt + 1, using: &generator)
        // An attempt that would start after the deadline is not made.
        if let deadline, timer.now + delay >= deadline { return nil }
        return delay
    }

    private func run(_ attempt: Int, on input: AnyValueBox, until deadline: Duration?) async -> End {
        let control = BodyControl(ofJobIn: body, attempt: attempt)
        body.setJob(control)
        defer {
            body.setJob(nil)
            _ = control.end()
        }
        let now = timer.now
        let own = options.timeout.map { now + $0 }
        guard let end = [own, deadline].compactMap({ $0 }).min() else {
            return Self.end(of: await work(control, input))
        }
        let (result, isLate) = await run(control, on: input, until: end)
        guard isLate, body.reason == nil, let limit = end == own ? options.timeout : options.retry?.deadline else {
            return Self.end(of: result)
        }
        guard case .error(let error) = result else { return .timeout(limit, underlying: nil) }
        return .timeout(limit, underlying: error)
    }

    private static func end(of made: Made) -> End {
        switch made {
        case .value(let value): .value(value)
        case .error(let error): .failure(error)
        case .nothing: .stopped
        }
    }

    /// Runs an attempt in a task of its own, so that it can be cancelled alone, and waits for its end, however late.
    /// The limit passes even if no thread of the pool is free.
    private func run(
        _ control: BodyControl, on input: AnyValueBox, until end: Duration
    ) async -> (Made, isLate: Bool) {
        let reason = AsyncOperationContext.CancellationReason.deadline(body.core.id)
        let limit = Ring(at: end, on: timer) {
            control.stop(reason)
            control.tellOfStop()
        }
        // Not `async let`, whose task is gone with this call: the thread of the limit may still hold it.
        let made = await withTaskGroup(of: Made.self) { group in
            group.addTask { await Worker.runPart(of: body, as: control) { await work(control, input) } }
            return await group.next() ?? .nothing
        }
        limit.cancel()
        return (made, control.reason == reason)
    }
}

extension BodyControl {
    /// Waits while the queue is suspended. Returns false if the body must stop.
    func mayGoOn() async -> Bool {
        if goesOn { return true }
        await waitWhileSuspended()
        return reason == nil
    }
}
