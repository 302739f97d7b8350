internal import Reporting
internal import RunControl
internal import RunEvents
internal import SourceDiagnostics
internal import WorkflowPlanning

/// The record of the last run of a workflow, as it was kept in the state directory.
struct RecordFile {
    private static let ending = ".last.json"

    /// The name of the file for a workflow's name in the state directory; nil for standard input.
    static func name(_ workflow: String?) -> String { (workflow ?? "stdin") + ending }

    /// What is kept of one workflow: of its last run, if that came to its end, and of one before.
    struct History {
        /// The run that had the lock last; nil for standard input, which has none.
        let lastRun: String?
        private let records: [RecordFile]

        /// nil if the state directory knows nothing of the workflow.
        init?(of workflow: String?, in directory: StateDirectory) {
            lastRun = workflow.flatMap { RunLock.holder(of: $0, in: directory)?.run }
            records = [
                workflow.flatMap { RunLock.kept(of: $0, in: directory) }, directory.contents(of: name(workflow)),
            ].compactMap { $0.flatMap(RecordFile.init) }
            if lastRun == nil, records.isEmpty { return nil }
        }

        /// The record of the last run; nil if that left none.
        var last: RecordFile? { lastRun.map(record) ?? records.last }

        func record(of run: String) -> RecordFile? { records.last { $0.run == run } }

        /// The record of an earlier run, where there is one of those.
        var earlier: RecordFile? { records.last { $0.run != lastRun } }
    }

    /// What is kept of all workflows of a state directory, the one that ran last first.
    static func histories(in directory: StateDirectory) -> [History] {
        let workflows: [String?] = RunLock.names(in: directory) + [nil]
        return workflows.map { (name: $0, time: lastChange(of: $0, in: directory)) }.sorted { $0.time > $1.time }
            .compactMap { History(of: $0.name, in: directory) }
    }

    /// When the last run of a workflow ended, or began if it left no record.
    private static func lastChange(of workflow: String?, in directory: StateDirectory) -> Duration {
        let record = directory.lastChange(of: name(workflow))
        return max(record, workflow.map { RunLock.lastChange(of: $0, in: directory) } ?? .zero)
    }

    let run: String
    /// The workflow file as it was named.
    let file: String
    private let fields: JSONFields

    /// nil if the bytes are no record, or one of another version.
    init?(_ bytes: [UInt8]) {
        guard let fields = JSONFields(bytes), fields.int("v") == 1, let run = fields.string("run") else { return nil }
        self.run = run
        self.file = fields.string("file") ?? "-"
        self.fields = fields
    }

    /// What is known of a step or group. Nil if the run did not have it.
    func report(of step: String) -> StepReport? {
        let steps = fields.objects("steps")
        guard let found = steps.last(where: { $0.string("step") == step }) else {
            return hasSucceeded(step) ? StepReport(step: step, state: StepOutcome.success.rawValue) : nil
        }
        let causes = fields.objects("causes")
        var report = StepReport(found)
        if let number = found.int("cause"), causes.indices.contains(number) { report.cause = Cause(causes[number]) }
        report.addRoot { root in steps.last { $0.string("step") == root } }
        return report
    }

    /// Successes are not recorded one by one: what the run had and the record has not is one.
    private func hasSucceeded(_ step: String) -> Bool {
        plan?.nodes.dropFirst().contains { $0.id == step } ?? false
    }

    /// The id that was probably meant.
    func suggestion(for step: String) -> String? {
        Suggestion.nearest(to: step, among: plan?.nodes.dropFirst().map(\.id) ?? [])
    }

    /// What was run, as the file has it now; nil if it was standard input, or cannot be read any more.
    private var plan: Plan? {
        guard let path = fields.string("path") else { return nil }
        let given = fields.strings("params").compactMap(RunRequest.Assignment.init)
        let loader = WorkflowLoader(path, allowsOutside: true) { RunValues(given, for: $0, readsSecrets: false).known }
        return try? loader.plan?.restricted(to: fields.strings("targets"))
    }
}

extension StepReport {
    /// What one JSON object says of a step, but for its cause.
    init(_ fields: JSONFields) {
        self.init(
            step: fields.string("step") ?? "", state: fields.string("outcome") ?? fields.string("state") ?? "unknown")
        item = fields.string("item")
        if let attempt = fields.int("attempt"), attempt > 1 {
            details.append("attempt \(attempt)")
            let earlier = fields.strings("earlier")
            if !earlier.isEmpty { details.append("after \(earlier.joined(separator: ", "))") }
        }
        let needs = fields.strings("waiting_for")
        if !needs.isEmpty { details.append("for \(needs.map { "`\($0)`" }.joined(separator: ", "))") }
        outputTail = fields.string("output_tail") ?? ""
        cause = fields.object("cause").flatMap(Cause.init)
    }

    /// Adds what the root of the chain wrote, where the root is another step.
    mutating func addRoot(_ find: (String) -> JSONFields?) {
        guard outputTail.isEmpty, case .step(let root) = cause?.root.subject, root != step else { return }
        outputTail = find(root)?.string("output_tail") ?? ""
    }
}

extension Cause {
    /// A chain out of its nested objects; nil if one of them is none.
    fileprivate init?(_ fields: JSONFields) {
        guard let kind = fields.string("kind").flatMap(Kind.init), let message = fields.string("message") else {
            return nil
        }
        let subject =
            fields.string("step").map(Subject.step) ?? fields.string("group").map(Subject.group)
            ?? fields.string("var").map(Subject.sharedValue) ?? .run
        self.init(
            kind: kind, message: message, subject: subject, file: fields.string("file"), line: fields.int("line"),
            next: fields.object("cause").flatMap(Cause.init).map(CauseLink.because) ?? .root)
    }
}
