/// The requests made to a live run from outside, known before the scheduler handles them.
struct ControlState {
    /// True once nothing new starts, and the run ends with its hooks when nothing runs any more.
    var isWindingDown = false
    /// True once that point is reached.
    var hasWoundDown = false
    /// The number of steps that may run at once.
    var jobs: Int
    /// True from the request of a pause until its end is requested.
    private(set) var isPaused = false
    /// The source of the last pause.
    private(set) var pauser = ""
    /// The sources of the requested ends of pauses that are still to be handled, oldest first.
    private var resumers: [String] = []
    /// True if running steps are frozen as long as the pause lasts.
    var isFrozen = false
    /// True once the whole run has been requested to end.
    var isStopping = false
    /// The first signal that requested the end, of the run or of what follows it; nil if none did.
    var signal: Int32?
    /// True once a second signal came, so that nothing gets a grace any more.
    var isAborted = false

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
        resumers.append(source)
        return true
    }

    /// Handles the end of a pause. Returns the source of the request for it; nil if something else has ended the pause,
    /// such as a cancel of the run.
    mutating func takeResume() -> String? {
        guard resumers.isEmpty else { return resumers.removeFirst() }
        isPaused = false
        return nil
    }
}
