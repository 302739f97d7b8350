package import Basics

/// The way a step, a group or the run ended.
package enum StepOutcome: String, RecordWord, Sendable, Hashable {
    case success, failure, timeout, cancelled, skipped
    case notRun = "not-run"

    /// True for a failure and for a timeout.
    package var isFailure: Bool { self == .failure || self == .timeout }

    package var meaning: String? {
        switch self {
        case .success: "as it should"
        case .failure: "a command failed or could not be started"
        case .timeout: "it took longer than allowed and was stopped"
        case .cancelled: "a cancel reached it or an enclosing group, started or not"
        case .skipped: "its own condition, or the kind of an edge, said no though nothing failed"
        case .notRun: "something upstream ruled it out"
        }
    }
}

/// The number of steps with each outcome.
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

    /// The counts that are not zero, such as `2 success`, in the order of the cases.
    package var words: [String] {
        StepOutcome.allCases.compactMap { self[$0] > 0 ? "\(self[$0]) \($0.rawValue)" : nil }
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
            for outcome in StepOutcome.allCases {
                json.key(outcome.rawValue)
                json.value(self[outcome])
            }
        }
    }
}
