internal import Planning

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
    /// The claims that runs inside of this run's steps may use, by the number of the loan; what they name does not
    /// start here until those runs have ended.
    var loans: [Int: Set<Claim>] = [:]

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

    /// True if a row is lent, by its own claim or by a lock that it or a group around it names. O(depth).
    func lends(_ row: PlanIndex, of plan: Plan) -> Bool {
        let claims = plan.claims(around: row)
        return loans.values.contains { !$0.isDisjoint(with: claims) }
    }
}
