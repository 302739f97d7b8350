internal import Basics
package import Planning
internal import Processes
internal import Scheduling
package import Syntax
internal import Workflow

/// The longest time that a run can take, as far as its timeouts limit it.
package enum RunBound: Sendable, Hashable {
    case atMost(Duration)
    /// The reason names what can go on without end.
    case none(reason: String)
}

/// The longest time of a run, and its parts.
package struct LongestRun: Sendable {
    package let bound: RunBound
    /// The longest chain of rows of the outline that wait for one another, with the longest time of each, all
    /// attempts and rounds together. A group represents its members if its own limit counts, or represents the delays
    /// between its rounds. Empty without a bound.
    package let chain: [(row: PlanIndex, length: Duration)]
    /// The time that the commands of `vars` may add.
    package let sharedValues: Duration
    /// The time that the chain may wait for slots, places and locks.
    package var waits: Duration {
        guard case .atMost(let bound) = bound else { return .zero }
        return max(.zero, bound - sharedValues - chain.reduce(.zero) { $0 + $1.length })
    }
}

extension Plan {
    /// Returns the longest time of a lone run with `jobs` steps at once: it waits for no other run and for no token,
    /// and is never paused. A fan-out whose items only the run knows counts with `items` instances; nil for as many
    /// as it may have. Without `known`, holds for any values of the parameters. The theorem is in <doc:Bound>.
    package func bound(jobs: Int, items: Int? = nil, known: KnownValues? = nil) -> RunBound {
        longestRun(jobs: jobs, items: items, known: known).bound
    }

    /// Returns the same with its parts.
    package func longestRun(jobs: Int, items: Int? = nil, known: KnownValues? = nil) -> LongestRun {
        let outline = self.outline
        func none(_ reason: String) -> LongestRun {
            LongestRun(bound: .none(reason: reason), chain: [], sharedValues: .zero)
        }
        if let known, let missing = workflow.parameters.first(where: { $0.isRequired && !known.has($0.name) }) {
            return none("the parameter `\(missing.name)` has no value")
        }
        let definitions = known?.ofSteps.map { _ in Set(outline.rows.map { outline.nodes[$0].definition }) } ?? []
        if let missing = known?.ofSteps?.missing.first(where: { definitions.contains($0.step) }) {
            return none("the parameter `\(missing.parameter.name)` of `\(missing.id)` has no value")
        }
        var locks = RunLocks()
        let graph = OperationGraph(outline, options: RunOptions(), locks: &locks)
        let longest = LongestTimes(outline, items: items, known: known)
        let bound = TimeBound(graph, width: max(1, jobs), costs: longest.costs)
        if let row = bound.unlimited?.planIndex {
            let place = "`\(outline.nodes[row].id)` at \(outline.place(of: row))"
            return none(
                longest.asks(row)
                    ? "\(place) asks before it starts (`confirm`), and may wait for the answer forever"
                    : "\(place) has no `timeout`")
        }
        guard bound.total.isFinite else {
            guard let value = longest.unlimitedValue else { return none("it cannot be counted") }
            let (file, line) = workflow.place(of: value)
            return none("`vars.\(workflow[value].name)` at \(file):\(line) has no `timeout`")
        }
        // Larger numbers of milliseconds are no longer exact.
        guard bound.total < 9e15 else { return none("retries and fan-outs add up to more than can be counted") }
        let values = min(longest.costs.once, bound.total)
        return LongestRun(
            bound: .atMost(.rounded(bound.total)),
            chain: bound.chain.map { ($0.row.planIndex, .rounded($0.length)) }, sharedValues: .rounded(values))
    }
}

extension Duration {
    fileprivate static func rounded(_ milliseconds: Double) -> Duration {
        .milliseconds(Int(min(milliseconds, 9e15).rounded(.up)))
    }
}

extension Plan {
    /// Returns the finding if a run with `jobs` steps at once may take longer than `deadline`; nil if none does. A
    /// fan-out whose items only the run knows counts with as many as it may have. With `known`, no run is meant that is
    /// given other values.
    package func finding(deadline: Duration, jobs: Int, known: KnownValues? = nil) -> Diagnostic? {
        let longest = longestRun(jobs: jobs, known: known)
        let message: String
        let fix: String
        switch longest.bound {
        case .atMost(let bound):
            guard bound > deadline else { return nil }
            message =
                "a run can take \(bound.asWritten) with \(jobs.counted("job")), "
                + "more than the deadline of \(deadline.asWritten)"
            fix = "shorten the limits that `flowrun plan` shows, or give the workflow a `timeout`"
        case .none(let reason):
            message = "a run can take longer than the deadline of \(deadline.asWritten), or forever: \(reason)"
            fix = "give it, or the workflow, a `timeout`"
        }
        return Diagnostic(
            .deadlineExceeded, message, in: workflow.file, at: SourceRange(0..<0), notes: notes(on: longest),
            fix: Diagnostic.Fix(fix))
    }

    /// The maximum number of rows of the chain that are named.
    private static let namedRows = 20

    /// Returns the longest chain with the time that each row of it adds, and the time on top of it.
    private func notes(on longest: LongestRun) -> [Diagnostic.Note] {
        var notes = longest.chain.prefix(Self.namedRows).map { row, length in
            Diagnostic.Note(
                "\(row == .root ? "the workflow" : "`\(outline.nodes[row].id)`") takes \(length.asWritten)"
                    + addends(of: row),
                at: workflow.range(of: outline.nodes[row].definition))
        }
        let others = longest.chain.dropFirst(Self.namedRows)
        if !others.isEmpty {
            let length = others.reduce(Duration.zero) { $0 + $1.length }
            notes.append(Diagnostic.Note("\(others.count) more on the longest chain take \(length.asWritten)"))
        }
        if longest.sharedValues > .zero {
            notes.append(Diagnostic.Note("commands of `vars` take \(longest.sharedValues.asWritten)"))
        }
        if longest.waits > .zero {
            notes.append(Diagnostic.Note("waiting for slots, places and locks takes \(longest.waits.asWritten)"))
        }
        return notes
    }

    /// Returns the parts of a row's time, in parentheses.
    private func addends(of row: PlanIndex) -> String {
        let outline = outline
        guard let limit = outline.timeout(of: row) else { return "" }
        var text = limit.asWritten
        if outline.isStep(row) {
            text += " + \(outline.grace(of: row).asWritten) of grace"
            let drain = ProcessEnding.longestDrain(isDetached: outline.settings(of: row)?.attributes.isDetached == true)
            text += " + \(drain.asWritten) until nothing is left of it"
        } else {
            text += " and the end of what runs then"
        }
        if let retry = outline.retry(of: row), retry.attempts > 1 {
            text = "\(retry.attempts) times \(text)"
            if retry.delay > .zero { text += ", with delays" }
            if let deadline = retry.deadline { text += ", at most \(deadline.duration.asWritten)" }
        }
        let rounds = rounds(of: row)
        if rounds > 1 { text += ", in up to \(rounds) rounds" }
        return " (\(text))"
    }

    /// Returns the number of rounds that the enclosing groups may have together, one inside the other.
    private func rounds(of row: PlanIndex) -> Int {
        var rounds = 1
        var next = row
        while next != .root {
            next = outline.parent(of: next)
            rounds = rounds.multipliedReportingOverflow(by: outline.retry(of: next)?.attempts ?? 1).partialValue
        }
        return rounds
    }
}
