import AsyncOperations

/// What the app shows. Calls answer on any thread; only the actor uses the answers.
actor Dashboard {
    private let cloud: Cloud
    private(set) var values: [String: String] = [:]

    init(_ cloud: Cloud) { self.cloud = cloud }

    /// Makes all calls at once, for at most `limit` together, and keeps what comes in time. Returns what does not.
    func refresh(_ names: [String], within limit: Duration) async throws -> [String] {
        let calls = names.map { [cloud] name in
            // The client cannot stop a call. What is late is left behind, and its answer is ignored.
            AsyncOperation<String, Never>(name, whenStopped: .leave) { completion in
                cloud.fetch(name) { completion.succeed($0) }
            }
        }
        let refresh = try CompoundOperation("refresh", options: OperationOptions(timeout: limit)) { calls }
        try refresh.start()
        _ = await refresh.outcome

        var late: [String] = []
        for call in calls {
            if case .success(let value) = await call.result {
                try await keep(value, as: call.name)
            } else {
                late.append(call.name)
            }
        }
        return late
    }

    /// Works on one value. The body of `withTimeout` runs in its caller's isolation, here the actor.
    private func keep(_ value: String, as name: String) async throws {
        try await withTimeout(.seconds(60)) {
            await Task.yield()
            values[name] = value
        }
    }
}
