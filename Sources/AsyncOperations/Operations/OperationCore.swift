/// What all handles of one operation share: its identity, its lifecycle, and who waits for it. It knows nothing of the
/// type of its result.
///
/// Dependents hold the cores of what they need, never the other way round, and let go of them at their end, so that
/// chains of any length are freed without recursion. Unchecked, because it has subclasses: what they add is touched
/// under the same lock.
///
/// Locks are taken in this order: of the topology, of a queue, of an operation; never two of a kind.
@usableFromInline class OperationCore: @unchecked Sendable {
    struct Need {
        let core: OperationCore
        var kind: EdgeKind
        /// Whether the body reads its value, so that the dependency cannot be taken away.
        let carriesData: Bool
        /// What stands for it in the queue of the dependent, where it is not there itself.
        var standIn: StandIn?
    }

    struct State {
        var lifecycle = Lifecycle.idle
        /// nil if it needs nothing, as most operations do.
        var needList: NeedList?
        weak var parent: CompoundCore?
        /// Whether anything was ever told to wait for it.
        var isNeeded = false
        /// Whether it, or anything inside it, needs something or is needed.
        var hasEdges = false
        /// Whether it was suspended before it was started.
        var startsSuspended = false
        /// What few operations have; made when it is needed.
        var rare: RareState?
        /// What the last attempt of its body made.
        var made = Made.nothing
    }

    let id: AsyncOperationID
    /// nil for the defaults, which most operations have.
    private let settings: Settings?
    let state: Lock<State>

    init(_ id: AsyncOperationID, _ options: OperationOptions, needs: [Need] = []) {
        self.id = id
        settings = options.isDefault ? nil : Settings(options)
        var state = State(hasEdges: !needs.isEmpty)
        for need in needs { state.add(need) }
        self.state = Lock(state)
    }

    var options: OperationOptions { settings?.options ?? OperationOptions() }
    var hasDefaultOptions: Bool { settings == nil }
    var name: String { id.name }
    var lifecycle: Lifecycle { state.withLock { $0.lifecycle } }
    var parent: CompoundCore? { state.withLock { $0.parent } }
    var end: OperationEnd? { lifecycle.end }
    var isFinished: Bool { end != nil }

    /// The first request to cancel that was accepted.
    var request: CancellationReason? { state.withLock { $0.rare?.request } }

    /// What a report says went wrong.
    var error: (any Error)? {
        if case .error(let error) = made { error } else { nil }
    }

    /// How much of it is done.
    func progress(in state: State) -> OperationProgress {
        let end = state.lifecycle.latestEnd
        guard let said = state.rare?.progress else { return OperationProgress(completed: end == nil ? 0 : 1, total: 1) }
        return end == .success ? OperationProgress(completed: said.total, total: said.total) : said
    }

    /// Runs the body once.
    func perform(_ control: BodyControl) async -> BodyEnd {
        preconditionFailure("\(id) has no body")
    }

    /// Lets go of the body, which nobody needs after the end. Called once, outside all locks, because that may run
    /// anybody's code.
    func releaseBody() {}

    private final class Settings: Sendable {
        let options: OperationOptions
        init(_ options: OperationOptions) { self.options = options }
    }
}

extension OperationCore.State {
    /// Changes what few operations have.
    mutating func withRare<Answer>(_ change: (RareState) -> Answer) -> Answer {
        let rare = rare ?? RareState()
        self.rare = rare
        return change(rare)
    }
}
