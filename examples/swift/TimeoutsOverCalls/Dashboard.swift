import AsyncOperations

/// What the app shows. Calls answer from any thread; what they answer is touched here only.
actor Dashboard {
    private let cloud: Cloud
    private(set) var values: [String: String] = [:]

    init(_ cloud: Cloud) { self.cloud = cloud }

    /// Fetches everything at once, for at most `limit` in all, and keeps what has come by then. Returns what has not.
    func refresh(_ names: [String], within limit: Duration) async throws -> [String] {
        let calls = names.map { [cloud] name in
            // The client cannot stop a call. What has not come by the end is left behind, and its answer counts no more.
            AsyncOperation<String, Never>(name, whenStopped: .leave) { _, completion in
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

    /// Works on one value. The body of a limit runs where its caller does, here in the actor.
    private func keep(_ value: String, as name: String) async throws {
        try await withTimeout(.seconds(60)) {
            await Task.yield()
            values[name] = value
        }
    }
}
