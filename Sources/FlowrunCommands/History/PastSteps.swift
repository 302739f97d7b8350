internal import Basics
internal import Reporting
internal import RunEvents
internal import RunJournal
internal import SourceDiagnostics

/// What a journal tells of the steps and groups of its run.
struct PastSteps {
    private let record = RunRecord()
    private let journal: JournalReader
    /// The last state of everything that the journal names: an outcome, or nil for what had not ended.
    private var states: [String: StepOutcome?] = [:]
    /// In the order in which they came.
    private var ids: [String] = []

    /// Reads a whole journal.
    init(_ journal: JournalReader) {
        self.journal = journal
        while journal.next({ note($0) }) {}
    }

    private mutating func note(_ event: RunEvent) {
        record.report(event)
        switch event.kind {
        case .stepAdded(let step, _): set(step, nil)
        case .stepStarted(let step): set(step.step, nil)
        case .groupStarted(let group): set(group, nil)
        case .stepFinished(let step): set(step.step, step.outcome)
        case .stepRestored(let step): set(step.step, .success)
        case .valueStarted(let value): set(value.value.words, nil)
        case .valueFinished(let value): set(value.value.words, value.outcome)
        case .groupFinished(let group): set(group.group, group.outcome)
        default: break
        }
    }

    private mutating func set(_ id: String, _ outcome: StepOutcome?) {
        if states.updateValue(outcome, forKey: id) == nil { ids.append(id) }
    }

    /// What is known of a step or group; nil if the journal does not name it.
    func report(of id: String) -> StepReport? {
        guard let state = states[id] else { return nil }
        guard state != .success, let fields = fields(of: id) else {
            let unknown = journal.damage == nil ? PastRun.State.interrupted.word : "not known"
            return StepReport(step: id, state: state?.rawValue ?? unknown)
        }
        var report = StepReport(fields)
        report.addRoot(outputs: journal, fields(of:))
        return report
    }

    /// The id that was probably meant.
    func suggestion(for id: String) -> String? {
        ids.first { $0.hasSuffix("." + id) } ?? Suggestion.nearest(to: id, among: ids)
    }

    private func fields(of id: String) -> JSONFields? {
        var json = JSONWriter()
        var isKnown = false
        json.object { isKnown = record.writeStep(id, to: &$0) }
        return isKnown ? JSONFields(json.bytes) : nil
    }
}
