internal import Basics
internal import RunLog
internal import Syntax

/// `flowrun why`: the reason why a step of the last run, or of a live one, ended as it did.
struct WhyCommand {
    private let step: String
    /// nil for the last one.
    private let run: String?
    private let selector: RunSelector

    init(_ arguments: Arguments) throws(CommandError) {
        // A single word is the step, even if there is a file of that name.
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
            let ask = { (step: String) throws(CommandError) in
                try selector.ask(.why(step: step), of: live, in: directory).0
            }
            guard let report = StepReport(try ask(step)) else { throw selector.unintelligible(live) }
            let text = report.text { root in (try? ask(root)).flatMap { StepReport($0) } }
            return try StandardStream.output.deliver(.lines(text))
        }
        guard let run else { return try tell(ofOneOf: selector.pastRuns(option: "--run").filter { !$0.isLive }) }
        try tell(ofOneOf: [selector.pastRun(run, option: "--run")])
    }

    /// Explains the step in the latest run that has it; later runs had other targets.
    private func tell(ofOneOf runs: [PastRun]) throws(CommandError) {
        var missing: CommandError?
        for past in runs {
            let journal = try past.openJournal()
            let view = RunView(remembersAll: true)
            while journal.next(view.report) {}
            if let failure = journal.failure { throw past.unreadable(failure) }
            let damage = journal.damage.map(past.words)
            if var report = view.report(of: step) {
                if let damage { StandardStream.error.say("\(damage): the rest of the run is unknown") }
                if report.outcome == nil {
                    report.state = damage == nil ? PastRun.State.interrupted.word : "not known"
                }
                return try StandardStream.output.deliver(
                    .lines(report.text(file: journal.file(ofStep:), view.report(of:))))
            }
            let limit =
                damage.map { ", as far as its journal can be read: \($0)" }
                ?? (journal.isFinished ? "" : " before it was interrupted")
            missing =
                missing
                ?? .failed(
                    "the run `\(past.run)` of `\(past.header.file)` had no step or group `\(step)`\(limit)"
                        + (suggestion(among: view.ids).map { "; did you mean `\($0)`?" } ?? ""))
            if past.header.targets.isEmpty || !journal.isFinished { break }
        }
        let subject = selector.file.map { "`\($0)`" } ?? "this folder"
        throw missing ?? .failed("no run of \(subject) has ended yet; `flowrun runs` lists all runs")
    }

    private func suggestion(among ids: [String]) -> String? {
        ids.first { $0.hasSuffix("." + step) } ?? Suggestion.nearest(to: step, among: ids)
    }

    /// Returns the live run to ask; nil if the run has ended.
    private func liveRun(in directory: StateDirectory, of workflow: String?) -> String? {
        let live = ControlClient.liveRuns(in: directory)
        if let run { return live.contains(run) ? run : nil }
        guard let workflow else {
            let runs = live.count < 2 ? [] : (try? RunHistory(in: directory).runs()) ?? []
            return runs.map(\.run).first(where: live.contains) ?? live.first
        }
        return RunLock.holder(of: workflow, in: directory).flatMap { live.contains($0.run) ? $0.run : nil }
    }
}
