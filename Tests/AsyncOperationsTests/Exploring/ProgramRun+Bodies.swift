import AsyncOperations

// The operations of a program.

extension ProgramRun {
    static func handle(_ index: Int, _ run: ProgramRun) -> Handle {
        let operation = run.program.operations[index]
        switch operation.kind {
        case .body:
            return .single(
                AsyncOperation("o\(index)", options: options(of: operation)) { [unowned run] context in
                    try await run.body(index, context)
                })
        case .waterfall:
            var waterfall = Waterfall("o\(index)", from: Int.self, failure: (any Error).self)
            for step in operation.steps {
                waterfall = waterfall.then { [unowned run] number in try await run.job(index, step, number) }
            }
            return .single(waterfall.operation(0, options: options(of: operation)))
        case .compound(let mode, let failsFast):
            do {
                return .compound(
                    try CompoundOperation(
                        "o\(index)", mode: mode, failFast: failsFast ? .cancel : .off, options: options(of: operation)))
            } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    private static func options(of operation: Program.Operation) -> OperationOptions {
        OperationOptions(
            timeout: operation.timeout.map { .milliseconds($0) },
            retry: operation.attempts > 1
                ? RetryPolicy(attempts: operation.attempts, backoff: .constant(.milliseconds(5))) : nil,
            priority: operation.priority, mutexes: operation.mutex.map { [$0] } ?? [],
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
            await take(step, context)
        }
        if context.attempt <= operation.failures {
            see(.left(index, .error))
            throw BodyError()
        }
        see(.left(index, .value))
        return context.attempt
    }

    /// A job knows no attempt: it counts as the first.
    private func job(_ index: Int, _ step: Program.Step, _ number: Int) async throws -> Int {
        see(.entered(index, attempt: 1, isCancelled: Task.isCancelled))
        await take(step, nil)
        let operation = program.operations[index]
        if number + 1 == operation.steps.count, operation.failures > 0 {
            see(.left(index, .error))
            throw BodyError()
        }
        see(.left(index, .value))
        return number + 1
    }

    private func take(_ step: Program.Step, _ context: AsyncOperationContext?) async {
        switch step {
        case .yield: await Task.yield()
        case .waitWhileSuspended: await context?.waitWhileSuspended()
        case .sleep(let time): try? await world.clock.sleep(for: .milliseconds(time))
        case .hang: await untilCancelled()
        case .produce(let member):
            guard let operation = self.operation(member) else { return }
            if (try? context?.produce(operation)) != nil { see(.taken(member, queue: nil)) }
        case .act(let action): perform(action)
        }
    }
}
