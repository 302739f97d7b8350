internal import OperationScheduling
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
    let reader: ResultReader
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
        reader = ResultReader(book, results)
        parameters = .object(options.parameters.fields)
    }

    /// A field of `run`, or with nil the whole. Its outcome is that of the body, which is over for the hooks that may
    /// ask for it; asking is O(members).
    func run(_ field: String?) -> Value? {
        switch field {
        case "id": return .string(options.run)
        case "name": return .string(book.workflow.name ?? "")
        case "outcome": return .string(StepOutcome(bodyOutcome(of: 0)).rawValue)
        case .some: return nil
        case nil:
            return .object(
                ["id", "name", "outcome"].compactMap { name in run(name).map { Value.Field(name: name, value: $0) } })
        }
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
            return book.tolerates(target) && (outcome == .failure || outcome == .timeout) ? .success : outcome
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

    /// Groups in which `drain` has ruled something out, though what failed stands outside of them.
    private var drained: Set<Int> = []

    func noteDrain(_ row: Int, after failed: Int) {
        var group = book.parent(of: row)
        while group != 0, !book.isInside(failed, group), drained.insert(group).inserted {
            group = book.parent(of: group)
        }
    }

    /// Whether something in a group has not run though nothing in the group failed: it was not chosen, or drained.
    /// O(rows inside).
    func isIncomplete(_ group: Int) -> Bool {
        drained.contains(group)
            || ([group] + book.plan.rows(inside: group)).contains {
                book.plan.nodes[$0].role == .group && !book.leftOut(of: $0).isEmpty
            }
    }

    /// Forgets a row whose group runs once more.
    func forget(_ row: Int) {
        stops[row] = nil
        blamed[row] = nil
        drained.remove(row)
        reader.forget(row)
    }

    /// Failure before timeout before cancel before success, as in the scheduler; hooks do not count. O(members).
    func bodyOutcome(of group: Int) -> OperationOutcome {
        var worst = stops[group] ?? .success
        for member in book.plan.members(of: group) {
            guard book.plan.nodes[member].hook == nil else { continue }
            switch results.outcome(of: member) {
            case .failure where !book.tolerates(member): return .failure
            case .timeout where !book.tolerates(member): worst = .timeout
            case .cancelled where worst == .success: worst = .cancelled
            default: break
            }
        }
        return worst
    }
}
