/// The life of one attempt to run a command, of a step or of one of `vars`: a pure state machine from the first start
/// to the one end.
///
///     idle ──start──▶ starting ──started──▶ running ──stop, kill──▶ stopping
///                     ▲  │   │                 └────────ended──┐       │ ended
///               start │  │   └──────settled──────────────────▶ over ◀──┤
///                     │  ▼                                             │ left
///           lacking, held, postponed ──stop, kill──▶ leaving ──────────┘
///
/// `stop` and `kill` make an attempt without a process leave, whatever it waits for. An input that a state does not
/// expect changes nothing and asks for nothing.
struct Attempt: Hashable {
    enum State: UInt8, CaseIterable {
        /// Has not been asked to start.
        case idle
        /// Asks for its process, or waits for others that have asked before.
        case starting
        /// Waits for a value that its command reads.
        case lacking
        /// Waits for the resume of the run.
        case held
        /// Waits for a time.
        case postponed
        case running
        /// Its process has been asked to end.
        case stopping
        /// Was stopped without a process, and waits until nothing of it is left in any queue.
        case leaving
        case over
    }

    enum Input: UInt8, CaseIterable {
        /// It may start: for the first time, or because what it has waited for is there.
        case start
        /// Its command reads a value that is not known yet.
        case lacksValue
        /// The run is paused.
        case paused
        /// The run is no longer paused.
        case resumed
        /// It is to be tried again at a later time.
        case postponed
        /// The machine has no process for it, or for others that have asked before.
        case refused
        /// It has a process.
        case started
        /// It is decided without a process: it cannot have one, or needs none.
        case settled
        case stop
        case kill
        /// Nothing waits for it any more.
        case left
        /// Nothing of its process is left.
        case ended
    }

    /// To be carried out in the order in which they are declared.
    struct Actions: OptionSet {
        let rawValue: UInt8

        /// Report that there is no process yet: a time limit is for the process. Asked for at most once.
        static let reportDelay = Actions(rawValue: 1)
        /// Report that there is a process after a delay.
        static let reportStart = Actions(rawValue: 2)
        /// Ask for a process.
        static let ask = Actions(rawValue: 4)
        /// Leave every queue, and then answer with `left`.
        static let leave = Actions(rawValue: 8)
        /// Ask the process to end, with its grace.
        static let terminate = Actions(rawValue: 16)
        /// End the process without grace.
        static let kill = Actions(rawValue: 32)
        /// Report the end. Asked for exactly once.
        static let finish = Actions(rawValue: 64)
    }

    private(set) var state = State.idle
    /// True once it has had a process.
    private(set) var hadProcess = false
    /// True once a delay was reported.
    private var isDelayed = false

    var hasProcess: Bool { state == .running || state == .stopping }

    mutating func handle(_ input: Input) -> Actions {
        switch (input, state) {
        case (.start, .idle), (.start, .lacking), (.start, .postponed), (.resumed, .held):
            return become(.starting, .ask)
        case (.lacksValue, .starting): return delay(.lacking)
        case (.paused, .starting): return delay(.held)
        case (.postponed, .starting): return delay(.postponed)
        case (.refused, .starting): return delay(.starting)
        case (.started, .starting):
            hadProcess = true
            return become(.running, isDelayed ? .reportStart : [])
        case (.settled, .idle), (.settled, .starting), (.left, .leaving), (.ended, .running), (.ended, .stopping):
            return become(.over, .finish)
        case (.stop, .running): return become(.stopping, .terminate)
        case (.kill, .running), (.kill, .stopping): return become(.stopping, .kill)
        case (.stop, .idle), (.stop, .starting), (.stop, .lacking), (.stop, .held), (.stop, .postponed),
            (.kill, .idle), (.kill, .starting), (.kill, .lacking), (.kill, .held), (.kill, .postponed):
            return become(.leaving, .leave)
        default: return []
        }
    }

    private mutating func become(_ next: State, _ actions: Actions) -> Actions {
        state = next
        return actions
    }

    private mutating func delay(_ next: State) -> Actions {
        defer { isDelayed = true }
        return become(next, isDelayed ? [] : .reportDelay)
    }
}
