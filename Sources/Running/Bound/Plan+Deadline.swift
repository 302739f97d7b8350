package import Planning
internal import Processes
package import Syntax
internal import Workflow

extension Plan {
    /// The finding if a run with so many steps at once may take longer than `deadline`; nil if none does. A fan-out
    /// whose items only the run knows counts with as many as it may have.
    package func finding(deadline: Duration, jobs: Int) -> Diagnostic? {
        let longest = longestRun(jobs: jobs)
        let message: String
        let fix: String
        switch longest.bound {
        case .atMost(let bound):
            guard bound > deadline else { return nil }
            message =
                "a run can take \(bound.asWritten) with \(Phrase.count(jobs, "job")), "
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

    /// How many rows of the chain are named at most.
    private static let namedRows = 20

    /// The longest chain with the time that each row of it adds, and what comes on top.
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

    /// The parts of a row's time, in parentheses.
    private func addends(of row: PlanIndex) -> String {
        let outline = outline
        guard let limit = outline.timeout(of: row) else { return "" }
        var text = limit.asWritten
        if outline.isStep(row) {
            text += " + \(outline.grace(of: row).asWritten) of grace"
            let drain = ProcessEnding.longestDrain(isDetached: outline.settings(of: row)?.isDetached == true)
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

    /// How many rounds the groups around a row may have, one inside the other.
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
