package import Basics

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

extension OutcomeCounts: RecordValue {
    package static var shape: RecordShape { .numbers(StepOutcome.allCases.map(\.rawValue)) }

    package init?(_ record: JSONObject, _ name: StaticString) {
        guard let counted = record.object(name) else { return nil }
        for (word, json) in counted.members {
            guard let outcome = StepOutcome(rawValue: word), let count = Int(json) else { return nil }
            self[outcome] = count
        }
    }

    package func write(_ name: StaticString, to json: inout JSONWriter, isJournal: Bool) {
        json.object(name) { json in
            forEach { outcome, count in
                json.key(outcome.rawValue)
                json.value(count)
            }
        }
    }
}
