// Suspensions: nothing starts, what runs goes on.

extension OperationScheduler {
    mutating func suspend() {
        guard !clocks.isSuspended, !isCancelled else { return }
        clocks.suspend()
        commands.append(.suspended)
    }

    mutating func resume() {
        guard clocks.isSuspended else { return }
        clocks.resume()
        commands.append(.resumed)
        announcedWake = nil
        let waiting = held
        held = []
        for id in waiting { consider(id) }
    }

    /// Ends a suspension for good, because stopping everything must not wait for a resume.
    mutating func stopSuspending() {
        isCancelled = true
        resume()
    }
}
