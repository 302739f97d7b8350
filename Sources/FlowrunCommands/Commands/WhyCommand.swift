internal import Reporting
internal import RunControl

/// `flowrun why`: how a step of the last run, or of a live one, came to its end.
struct WhyCommand {
    private let step: String
    /// nil for the last one.
    private let run: String?
    private let selector: RunSelector

    init(_ arguments: Arguments) throws(CommandError) {
        // A lone word is the step, even if there is a file of that name.
        let (file, words) = (arguments.operands.first, arguments.operands)
        if words.count > 1, let file, arguments.has(.file) || !WorkflowChoice.isFile(file) {
            throw arguments.has(.file)
                ? .syntax("unexpected `\(words[1])`: `why` takes one STEP", .why) : WorkflowChoice.missing(file)
        }
        step = words[words.count - 1]
        run = arguments.value(.run)
        selector = RunSelector(arguments, operand: words.count > 1 ? file : nil)
    }

    func callAsFunction() throws(CommandError) {
        let (directory, workflow) = try selector.place()
        if let live = liveRun(in: directory, of: workflow) {
            let (fields, _) = try selector.ask(.why(step: step), of: live, in: directory)
            var report = StepReport(fields)
            report.addRoot { root in try? selector.ask(.why(step: root), of: live, in: directory).0 }
            return try StandardStream.output.deliver(report.text)
        }
        let record = try record(in: directory, of: workflow)
        guard let report = record.report(of: step) else {
            throw .failed(
                "the run `\(record.run)` of `\(record.file)` had no step or group `\(step)`"
                    + (record.suggestion(for: step).map { "; did you mean `\($0)`?" } ?? ""))
        }
        try StandardStream.output.deliver(report.text)
    }

    /// The live run that is meant; nil if it is one that has ended.
    private func liveRun(in directory: StateDirectory, of workflow: String?) -> String? {
        let live = ControlClient.liveRuns(in: directory)
        if let run { return live.contains(run) ? run : nil }
        guard let workflow else { return live.last }
        return RunLock.holder(of: workflow, in: directory).flatMap { live.contains($0.run) ? $0.run : nil }
    }

    private func record(in directory: StateDirectory, of workflow: String?) throws(CommandError) -> RecordFile {
        var histories = [workflow.flatMap { RecordFile.History(of: $0, in: directory) }].compactMap(\.self)
        if histories.isEmpty, !selector.isFileNamed { histories = RecordFile.histories(in: directory) }
        if let run {
            guard let record = histories.lazy.compactMap({ $0.record(of: run) }).first else {
                throw .failed(
                    "`\(directory.path)` has no record of the run `\(run)`; only the last run of each workflow is kept")
            }
            return record
        }
        guard let history = histories.first else {
            throw .failed(
                "`\(directory.path)` has no record of a run"
                    + (selector.isFileNamed ? " of `\(selector.file ?? "")`" : ""))
        }
        guard let record = history.last else {
            let earlier = history.earlier.map { "; `--run \($0.run)` asks about one before" } ?? ""
            throw .failed(
                "the last run `\(history.lastRun ?? "")` left no record, as after kill -9 or with --no-journal"
                    + earlier)
        }
        return record
    }
}
