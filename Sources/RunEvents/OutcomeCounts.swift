/// How many steps ended with each outcome.
package struct OutcomeCounts: Sendable, Equatable, ExpressibleByDictionaryLiteral {
    // In the order of the cases. Not a dictionary, which a small run would spend a fiftieth of its time on.
    private var numbers = [Int](repeating: 0, count: StepOutcome.allCases.count)

    package init(dictionaryLiteral elements: (StepOutcome, Int)...) {
        for (outcome, number) in elements { self[outcome] = number }
    }

    package subscript(outcome: StepOutcome) -> Int {
        get { numbers[Self.position(of: outcome)] }
        set { numbers[Self.position(of: outcome)] = newValue }
    }

    private static func position(of outcome: StepOutcome) -> Int {
        switch outcome {
        case .success: 0
        case .failure: 1
        case .timeout: 2
        case .cancelled: 3
        case .skipped: 4
        case .notRun: 5
        }
    }
}
