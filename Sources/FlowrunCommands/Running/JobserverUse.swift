internal import Basics
internal import Processes

/// The part that a run takes in the jobs of the make around it.
package enum JobserverUse: Sendable, Hashable {
    /// There is none.
    case none
    /// One step of its own, and one more for each token, at most that many.
    case tokens(most: Int)
    /// The caller has said how many steps run at once.
    case overridden(jobs: Int)
    /// flowrun has not got the jobserver.
    case closed

    init(ofJobs jobs: Int?) {
        self =
            switch (Jobserver.presence, jobs) {
            case (.none, _), (.closed, .some): .none
            case (.open, let jobs?): .overridden(jobs: jobs)
            case (.open, nil):
                .tokens(
                    most: min(
                        environmentVariable("MAKEFLAGS").flatMap { MakeFlags($0).jobs } ?? Machine.usableCores,
                        1 + Jobserver.mostTokens))
            case (.closed, nil): .closed
            }
    }

    /// The most steps at once; nil if the jobserver does not say.
    var jobs: Int? {
        switch self {
        case .none, .overridden: nil
        case .tokens(let most): most
        case .closed: 1
        }
    }

    var tokens: (any TokenPool)? { if case .tokens = self { Jobserver() } else { nil } }

    /// A word to the user before the run; nil if all is as it is meant.
    var warning: String? {
        switch self {
        case .none, .tokens: nil
        case .overridden(let jobs): "-j \(jobs) overrides the jobserver of make"
        case .closed:
            "cannot open the jobserver of make, so one step runs at a time: begin the recipe line with `+`"
        }
    }
}
