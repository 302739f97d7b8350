internal import ArgumentParser
internal import Reporting
internal import RunControl

struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why", abstract: "Tell why a step of the last run, or of a live one, ended as it did.",
        discussion: "Follows the chain of causes down to its root, with the place in the file and the last output.")

    @Argument(help: ArgumentHelp("The full id of a step or group.", valueName: "step"))
    var step: String

    @Option(name: .customLong("run"), help: ArgumentHelp("The id of the run (default: the last one).", valueName: "id"))
    var runID: String?

    @OptionGroup var finder: RunFinder

    func run() throws {
        let (directory, workflow) = try finder.place()
        if let live = try liveRun(in: directory, of: workflow) {
            let (fields, _) = try finder.ask(.why(step: step), of: live, in: directory)
            var report = StepReport(fields)
            report.addRoot { root in try? finder.ask(.why(step: root), of: live, in: directory).0 }
            return try Answer.give(report.text)
        }
        let record = try record(in: directory, of: workflow)
        guard let report = record.report(of: step) else {
            throw failed(
                "the run `\(record.run)` of `\(record.file)` had no step or group `\(step)`"
                    + (record.suggestion(for: step).map { "; did you mean `\($0)`?" } ?? ""))
        }
        try Answer.give(report.text)
    }

    /// The live run that is meant; nil where it is one that has ended.
    private func liveRun(in directory: StateDirectory, of workflow: String?) throws -> String? {
        let live = ControlClient.liveRuns(in: directory)
        if let runID { return live.contains(runID) ? runID : nil }
        guard let workflow else { return live.last }
        return RunLock.holder(of: workflow, in: directory).flatMap { live.contains($0.run) ? $0.run : nil }
    }

    private func record(in directory: StateDirectory, of workflow: String?) throws -> RecordFile {
        let histories =
            workflow.map { [RecordFile.History(of: $0, in: directory)].compactMap(\.self) }
            ?? RecordFile.histories(in: directory)
        if let runID {
            guard let record = histories.lazy.compactMap({ $0.record(of: runID) }).first else {
                throw failed(
                    "`\(directory.path)` has no record of the run `\(runID)`; only the last run of each workflow is kept"
                )
            }
            return record
        }
        guard let history = histories.first else {
            throw failed("`\(directory.path)` has no record of a run" + (finder.file.map { " of `\($0)`" } ?? ""))
        }
        guard let record = history.last else {
            let earlier = history.earlier.map { "; `--run \($0.run)` asks about one before" } ?? ""
            throw failed(
                "the last run `\(history.lastRun ?? "")` left no record, as after kill -9 or with --no-journal"
                    + earlier)
        }
        return record
    }
}
