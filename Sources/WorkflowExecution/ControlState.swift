/// What has been asked of a live run from outside: the scheduler says nothing until it has come to a request.
struct ControlState {
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
}
