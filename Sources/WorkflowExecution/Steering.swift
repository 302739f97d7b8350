/// What has been asked of a live run from outside: the scheduler says nothing until it has come to a request.
struct Steering {
    /// How many steps may run at once.
    var jobs: Int
    /// Whether it has been asked that nothing new starts.
    private(set) var isPaused = false
    /// Who asked for the pause, and who for its end.
    private(set) var pauser = ""
    private(set) var resumer: String?
    /// Whether running steps are stopped where they are as long as the pause lasts.
    var isFrozen = false
    /// Whether the whole run has been asked to end.
    var isStopping = false

    /// Steps that the scheduler has started and the log has not: their processes are on the way.
    private var starting = 0
    /// Whether a pause has begun that the log cannot tell of before those starts.
    private var owesPause = false

    init(jobs: Int) { self.jobs = jobs }

    /// Returns false where it is paused already.
    mutating func pause(by source: String) -> Bool {
        guard !isPaused else { return false }
        isPaused = true
        pauser = source
        return true
    }

    /// Returns false where it is not paused.
    mutating func resume(by source: String) -> Bool {
        guard isPaused else { return false }
        isPaused = false
        resumer = source
        return true
    }

    mutating func noteStart() { starting += 1 }

    /// Notes that a start is in the log, or will never be. Returns whether a pause is to be told now.
    mutating func noteStarted() -> Bool {
        starting -= 1
        return starting == 0 && takeOwedPause()
    }

    /// Notes that the scheduler starts nothing any more. Returns whether the pause is to be told now.
    mutating func noteSuspension() -> Bool {
        owesPause = starting > 0
        return !owesPause
    }

    /// Whether a pause is still to be told; it counts as told from then on.
    mutating func takeOwedPause() -> Bool {
        defer { owesPause = false }
        return owesPause
    }
}
