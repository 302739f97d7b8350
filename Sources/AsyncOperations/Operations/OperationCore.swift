/// What all handles of an operation share: its identity, its lifecycle, and who waits for it. It does not know the type
/// of its result.
///
/// Dependents hold the cores of their dependencies, never the other way round, and release them at their end, so chains
/// of any length are freed without recursion. Unchecked, because it has subclasses; the same lock guards what they add.
///
/// Locks are taken in this order: the topology's, a queue's, an operation's. Two queues are locked at once only by who
/// has locked the topology; of operations, only one and what is inside it, from outside in.
@usableFromInline class OperationCore: @unchecked Sendable {
    struct Need {
        let core: OperationCore
        var kind: DependencyKind
        /// Whether the body reads its value, so that the dependency cannot be removed.
        let carriesData: Bool
        /// Its stand-in in the dependent's queue, if it belongs to another one.
        var standIn: StandIn?
    }

    /// The flags stand in the bytes that a lifecycle leaves free: a million operations may wait at once.
    struct State {
        var lifecycle = Lifecycle.idle
        /// How often something has begun to depend on it or to wait for it; the highest number for that and more.
        var dependents: UInt8 = 0
        /// Whether it, or anything inside it, has ever had a dependency or a dependent.
        var hasEdges = false
        /// Whether it was suspended before it was started.
        var startsSuspended = false
        /// nil if it has no dependencies, like most operations.
        var needList: NeedList?
        weak var parent: CompoundCore?
        /// What few operations have; made on demand.
        var rare: RareState?
        /// What the last attempt of its body made.
        var made = Made.nothing
    }

    let id: AsyncOperationID
    /// nil for the defaults, like most operations.
    private let settings: OperationSettings?
    let state: Lock<State>

    init(_ id: AsyncOperationID, _ settings: OperationSettings?, needs: [Need] = []) {
        self.id = id
        self.settings = settings
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
    var request: AsyncOperationContext.CancellationReason? { state.withLock { $0.rare?.request } }

    /// The error for reports; nil if there is none.
    var error: (any Error)? {
        if case .error(let error) = made { error } else { nil }
    }

    /// Its progress.
    func progress(in state: State) -> OperationProgress {
        let end = state.lifecycle.latestEnd
        guard let said = state.rare?.progress else { return OperationProgress(completed: end == nil ? 0 : 1, total: 1) }
        return end == .success ? OperationProgress(completed: said.total, total: said.total) : said
    }

    /// Runs the body once.
    func perform(_ control: BodyControl) async -> BodyEnd {
        preconditionFailure("\(id) has no body")
    }

    /// Releases the body after the end. Called once and outside all locks, because it may run user code.
    func releaseBody() {}
}

extension OperationCore.State {
    /// True if anything has ever waited for it.
    var isNeeded: Bool { dependents > 0 }

    /// Changes what few operations have; makes it first if there is none. If there was none at the end, there was
    /// nobody to be told of it.
    mutating func withRare<Answer>(_ change: (RareState) -> Answer) -> Answer {
        let rare = rare ?? RareState(isTold: lifecycle.end != nil)
        self.rare = rare
        return change(rare)
    }
}
