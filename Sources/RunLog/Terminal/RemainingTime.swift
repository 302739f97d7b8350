/// How long a run will still take if it goes as expected from here on.
struct RemainingTime {
    private var hasAsked = false
    /// The steps that have ended, until somebody asks.
    private var ended: [String] = []
    private var estimate: RunEstimate?
    /// The work of the steps that have ended, in seconds.
    private var done = 0.0

    mutating func note(_ event: RunEvent) {
        switch event.kind {
        // In a later round of its group a step does the same work again.
        case .stepFinished(let step): if (event.round ?? 0) == 0 { noteEnd(of: step.step) }
        case .stepRestored(let step): noteEnd(of: step.step)
        default: break
        }
    }

    private mutating func noteEnd(of step: String) {
        if let estimate { done += estimate.duration(of: step) } else if !hasAsked { ended.append(step) }
    }

    /// nil where it is not known. The first call asks for `expected`, which may take a while.
    mutating func left(
        _ running: [RunView.Command], at elapsed: Duration, expected: () -> RunEstimate?
    ) -> Duration? {
        if !hasAsked {
            hasAsked = true
            estimate = expected()
            ended.forEach { noteEnd(of: $0) }
            ended = []
        }
        guard let estimate else { return nil }
        let underWay = running.compactMap { running in
            running.step.map { min((elapsed - running.start) / .seconds(1), estimate.duration(of: $0)) }
        }
        return estimate.left(after: done + underWay.reduce(0, +))
    }
}
