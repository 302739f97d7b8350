package import SourceDiagnostics
import WorkflowModel

extension Plan {
    /// What is wrong if a run has to be over after `deadline`, with so many steps at once; nil if every run is. A
    /// fan-out whose items only the run knows counts with as many as it may have.
    package func finding(deadline: Duration, jobs: Int) -> Diagnostic? {
        let message: String
        let fix: String
        switch bound(jobs: jobs) {
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
            .deadlineExceeded, message, in: workflow.file, at: SourceRange(0..<0), fix: Diagnostic.Fix(fix))
    }
}
