internal import AsyncOperations
internal import ProcessExecution
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowModel
internal import WorkflowPlanning

/// Everything about a run that an expression can read, as far as it is known.
@EventLoopActor
final class RunFacts {
    let book: RunBook
    let results: RunResults
    let names: NameIndex
    let parameters: Value
    private let options: RunOptions
    /// `env`: flowrun's own environment with the top of the file on it; asked for at its first use.
    var readEnvironment: @EventLoopActor () -> Value = { .object([]) }
    private(set) lazy var environment = readEnvironment()
    /// `env` while the top of the file is evaluated: what flowrun has inherited.
    var readInherited: @EventLoopActor () -> Value = { .object([]) }
    private(set) lazy var inherited = readInherited()

    init(_ book: RunBook, results: RunResults, options: RunOptions) {
        self.book = book
        self.results = results
        self.options = options
        names = NameIndex(book)
        parameters = .object(options.parameters.fields)
    }

    /// `run`: its outcome is that of the body, which is over for the hooks that may ask for it.
    var run: Value {
        .object([
            Value.Field(name: "id", value: .string(options.run)),
            Value.Field(name: "name", value: .string(book.workflow.name ?? "")),
            Value.Field(name: "outcome", value: .string(StepOutcome(bodyOutcome(of: 0)).rawValue)),
        ])
    }

    /// The value of an instance's loop variable, or its axes by name.
    func item(of row: Int) -> Value {
        let node = book.plan.nodes[row]
        let own = node.variables.dropFirst(book.plan.nodes[book.parent(of: row)].variables.count)
        if let only = own.first, own.count == 1 { return only.typedValue }
        return .object(own.map { Value.Field(name: $0.name, value: $0.typedValue) })
    }

    /// `hashFiles`, relative to the workflow's folder.
    func hash(files patterns: [String], at range: SourceRange) throws(EvaluationError) -> String {
        do {
            return try FileHash.hash(patterns, in: options.folder ?? ".")
        } catch {
            throw EvaluationError("`hashFiles` cannot read `\(error.path)`: \(error.reason.lowercased())", at: range)
        }
    }

    // MARK: Status functions

    /// What a status function says where a row's condition is decided: about all it needs, or, in a hook, about the
    /// body the hook belongs to.
    func status(_ function: StatusFunction, of row: Int) -> Bool {
        let seen = hookedBody(around: row).map { [bodyOutcome(of: $0)] } ?? needs(of: row)
        switch function {
        case .always: return true
        case .success: return seen.allSatisfy { $0 == .success || $0 == .skipped }
        case .failure: return seen.contains { $0 == .failure || $0 == .timeout }
        case .cancelled: return seen.contains(.cancelled)
        }
    }

    /// The outcomes of what a row needs; of something that was not run, what ruled it out.
    private func needs(of row: Int) -> [OperationOutcome] {
        book.plan.edges(of: row).map { edge in
            let target = Int(edge.target)
            let outcome = results.outcome(of: target) ?? .success
            if outcome == .notRun { return blamed[target] ?? .failure }
            let isTolerated = book.settings(of: target)?.continueOnError ?? false
            return isTolerated && (outcome == .failure || outcome == .timeout) ? .success : outcome
        }
    }

    /// Per row that was not run: the outcome of what ruled it out.
    private var blamed: [Int: OperationOutcome] = [:]

    func noteBlame(_ row: Int, on prerequisite: Int) {
        blamed[row] = blamed[prerequisite] ?? results.outcome(of: prerequisite)
    }

    /// The group whose hook a row without needs is in; nil outside of hooks.
    private func hookedBody(around row: Int) -> Int? {
        guard book.plan.edges(of: row).isEmpty else { return nil }
        var next = row
        while next != 0 {
            if book.plan.nodes[next].hook != nil { return book.parent(of: next) }
            next = book.parent(of: next)
        }
        return nil
    }

    /// Groups that were stopped as a whole, and as what that counts.
    private var stops: [Int: OperationOutcome] = [:]

    func noteStop(_ group: Int, as outcome: OperationOutcome) { stops[group] = stops[group] ?? outcome }

    /// Forgets a row whose group runs once more.
    func forget(_ row: Int) {
        stops[row] = nil
        blamed[row] = nil
    }

    /// Failure before timeout before cancel before success, as in the scheduler; hooks do not count. O(members).
    func bodyOutcome(of group: Int) -> OperationOutcome {
        var worst = stops[group] ?? .success
        for member in book.plan.members(of: group) {
            guard book.plan.nodes[member].hook == nil else { continue }
            let isTolerated =
                book.plan.nodes[member].role != .fanOut
                && book.settings(of: member)?.continueOnError ?? false
            switch results.outcome(of: member) {
            case .failure where !isTolerated: return .failure
            case .timeout where !isTolerated: worst = .timeout
            case .cancelled where worst == .success: worst = .cancelled
            default: break
            }
        }
        return worst
    }
}
