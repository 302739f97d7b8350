/// How many steps ended with each outcome.
///
/// Plain fields, because a small run would spend a fiftieth of its time on the type of a dictionary.
package struct OutcomeCounts: Sendable, Equatable {
    private var success = 0
    private var failure = 0
    private var timeout = 0
    private var cancelled = 0
    private var skipped = 0
    private var notRun = 0

    package init() {}

    package subscript(outcome: StepOutcome) -> Int {
        get {
            switch outcome {
            case .success: success
            case .failure: failure
            case .timeout: timeout
            case .cancelled: cancelled
            case .skipped: skipped
            case .notRun: notRun
            }
        }
        set {
            switch outcome {
            case .success: success = newValue
            case .failure: failure = newValue
            case .timeout: timeout = newValue
            case .cancelled: cancelled = newValue
            case .skipped: skipped = newValue
            case .notRun: notRun = newValue
            }
        }
    }

    /// In the order of the cases, those that are zero too.
    package func forEach(_ body: (StepOutcome, Int) -> Void) {
        body(.success, success)
        body(.failure, failure)
        body(.timeout, timeout)
        body(.cancelled, cancelled)
        body(.skipped, skipped)
        body(.notRun, notRun)
    }
}
