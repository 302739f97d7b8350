import AsyncOperations
import Synchronization

// The operations of a program.

extension ProgramRun {
    static func handle(_ index: Int, _ run: ProgramRun) -> Handle {
        let operation = run.program.operations[index]
        switch operation.kind {
        case .body:
            if let input = operation.input, case .single(let producer)? = run.handle(input) {
                return .single(
                    AsyncOperation("o\(index)", from: producer.output, options: run.options(of: operation)) {
                        [unowned run] (context, _) async throws in
                        try await run.body(index, context)
                    })
            }
            return .single(
                AsyncOperation("o\(index)", options: run.options(of: operation)) { [unowned run] context in
                    try await run.body(index, context)
                })
        case .waterfall:
            var waterfall = Waterfall("o\(index)", from: Int.self, failure: (any Error).self)
            for step in operation.steps {
                waterfall = waterfall.then(
                    timeout: operation.jobTimeout.map { .milliseconds($0) },
                    retry: operation.jobAttempts > 1
                        ? RetryPolicy(attempts: operation.jobAttempts, backoff: .constant(.milliseconds(3))) : nil
                ) { [unowned run] (context: AsyncOperationContext, number: Int) async throws in
                    try await run.job(index, step, number, context)
                }
            }
            return .single(waterfall.operation(0, options: run.options(of: operation)))
        case .compound(let mode, let failsFast):
            do {
                return .compound(
                    try CompoundOperation(
                        "o\(index)", mode: mode, failFast: failsFast ? .cancel : .off,
                        options: run.options(of: operation)))
            } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    private func options(of operation: Program.Operation) -> OperationOptions {
        OperationOptions(
            timeout: operation.timeout.map { .milliseconds($0) },
            retry: operation.attempts > 1
                ? RetryPolicy(attempts: operation.attempts, backoff: .constant(.milliseconds(5))) : nil,
            priority: operation.priority, mutexes: operation.mutex.map { [$0] } ?? [],
            pools: Dictionary(uniqueKeysWithValues: operation.units.map { (pools[$0], $1) }),
            toleratesFailure: operation.toleratesFailure)
    }

    private func body(_ index: Int, _ context: AsyncOperationContext) async throws -> Int {
        see(.entered(index, attempt: context.attempt, isCancelled: context.isCancelled))
        let operation = program.operations[index]
        for step in operation.steps {
            if operation.heedsCancel, context.isCancelled {
                see(.left(index, .stopped))
                throw CancellationError()
            }
            await take(step, context, in: index)
        }
        let entries = record.events.count { if case .entered(index, _, _) = $0 { true } else { false } }
        if entries <= operation.failures {
            see(.left(index, .error))
            throw BodyError()
        }
        see(.left(index, .value))
        return context.attempt
    }

    private func job(_ index: Int, _ step: Program.Step, _ number: Int, _ context: AsyncOperationContext) async throws
        -> Int
    {
        see(.entered(index, attempt: context.attempt, isCancelled: Task.isCancelled))
        await take(step, context, in: index)
        let operation = program.operations[index]
        if number + 1 == operation.steps.count, context.attempt <= operation.failures {
            see(.left(index, .error))
            throw BodyError()
        }
        see(.left(index, .value))
        return number + 1
    }

    private func take(_ step: Program.Step, _ context: AsyncOperationContext, in index: Int) async {
        switch step {
        case .yield: await Task.yield()
        case .waitWhileSuspended: await context.waitWhileSuspended()
        case .sleep(let time): try? await world.clock.sleep(for: .milliseconds(time))
        case .hang: await untilCancelled()
        case .produce(let member):
            guard let operation = self.operation(member) else { return }
            do throws(UsageError) {
                try context.produce(operation)
            } catch {
                see(.callRefused(error))
                break
            }
            let compound = record.events.lazy.compactMap { event -> Int? in
                if case .memberAccepted(index, let compound) = event { compound } else { nil }
            }.last
            see(compound.map { .memberAccepted(member, of: $0) } ?? .taken(member, queue: nil))
        case .act(let action): perform(action)
        case .await(let other): await wait(for: other, heedsCancel: false, in: index)
        case .awaitValue(let other): await wait(for: other, heedsCancel: true, in: index)
        case .awaitIdle(let queue):
            guard let queue = self.queue(queue) else { return }
            do throws(UsageError) { try await queue.waitUntilIdle() } catch { see(.refused(index, awaiting: nil)) }
        case .run(let queue):
            guard let queue = self.queue(queue) else { return }
            do throws(OperationFailure<Never>) {
                try await queue.run { _ in await Task.yield() }
            } catch {
                if case .refused(.wouldWaitForItself) = error { see(.refused(index, awaiting: nil)) }
            }
        case .sleepLimited(let limit):
            try? await withTimeout(.milliseconds(limit), clock: world.clock) {
                try await world.clock.sleep(for: .milliseconds(4))
            }
        case .report(let part): context.report(completed: part, total: 4)
        }
    }

    private func wait(for other: Int, heedsCancel: Bool, in index: Int) async {
        guard let handle = handle(other) else { return }
        let isRefused =
            switch handle {
            case .single(let operation) where heedsCancel: await Self.isRefused { _ = try await operation.value }
            case .compound(let operation) where heedsCancel: await Self.isRefused { _ = try await operation.value }
            case .single(let operation):
                if case .failure(.refused(.wouldWaitForItself)) = await operation.result { true } else { false }
            case .compound(let operation):
                if case .failure(.refused(.wouldWaitForItself)) = await operation.result { true } else { false }
            }
        guard isRefused else { return }
        see(.refused(index, awaiting: other))
        guard program.isCalm else { return }
        let latch = Latch()
        lingering.withLock { $0[index] = latch }
        await latch.wait()
    }

    private static func isRefused(_ value: () async throws -> Void) async -> Bool {
        do {
            try await value()
            return false
        } catch OperationFailure<any Error>.refused(.wouldWaitForItself) {
            return true
        } catch OperationFailure<CompoundOperation.Failure>.refused(.wouldWaitForItself) {
            return true
        } catch {
            return false
        }
    }
}
