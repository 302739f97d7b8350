/// What a live run was asked from outside, known before the scheduler handles the request.
struct ControlState {
    /// True once nothing new starts, and the run ends with its hooks when nothing runs any more.
    var isWindingDown = false
    /// True once that point is reached.
    var hasWoundDown = false
    /// How many steps may run at once.
    var jobs: Int
    /// Whether it has been asked that nothing new starts.
    private(set) var isPaused = false
    /// Who asked for the pause, and who for its end.
    private(set) var pauser = ""
    private(set) var resumer: String?
    /// Whether running steps are frozen as long as the pause lasts.
    var isFrozen = false
    /// Whether the whole run has been asked to end.
    var isStopping = false

    init(jobs: Int) { self.jobs = jobs }

    /// Returns false if it is already paused.
    mutating func pause(by source: String) -> Bool {
        guard !isPaused else { return false }
        isPaused = true
        pauser = source
        return true
    }

    /// Returns false if it is not paused.
    mutating func resume(by source: String) -> Bool {
        guard isPaused else { return false }
        isPaused = false
        resumer = source
        return true
    }
}
