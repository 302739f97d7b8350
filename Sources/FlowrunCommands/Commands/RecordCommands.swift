internal import Basics
internal import Glibc
internal import Planning
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// `flowrun replay`: the log of a past run, in any form, as it was or would have been shown.
struct ReplayCommand {
    /// nil for the last one.
    private let run: String?
    private let selector: RunSelector
    private let log: LogForm
    private var options = TextReporter.Options()

    init(_ arguments: Arguments) {
        run = arguments.operands.first
        selector = RunSelector(arguments, operand: nil)
        log = arguments.choice(.log) ?? .text
        options.output = arguments.choice(.output)
        options.isColored = StandardStream.output.isColored(arguments.choice(.color) ?? .auto)
        options.isVerbose = arguments.has(.verbose)
        options.spoolDirectory = environmentVariable("TMPDIR") ?? options.spoolDirectory
    }

    func callAsFunction() throws(CommandError) {
        let past = try selector.pastRun(run, option: "flowrun replay")
        let journal = try past.openJournal()
        let sink = AnswerSink()
        let view = RunView()
        var options = options
        options.logFile = past.header.logFile
        options.why = past.header.why
        let reporter = log.reporter(to: sink, view: view, options, outputs: journal)
        while sink.failure == nil,
            journal.next({ event in
                view.report(event)
                reporter.report(event)
            })
        {}
        if let failure = sink.failure { throw .unable("cannot write to standard output: \(failure.words)") }
        if journal.changedOutput > 0 {
            let changed = journal.changedOutput.counted("byte")
            StandardStream.error.say("\(changed) of the steps' output are not what was kept: their checksum differs")
        }
        if let words = Self.missing(journal.stepsWithMissingOutput) { StandardStream.error.say(words) }
        if let failure = journal.failure { throw past.unreadable(failure) }
        if let damage = journal.damage {
            return StandardStream.error.say("\(past.words(of: damage)): the log can be shown up to there")
        }
        guard !journal.isFinished else { return }
        if case .live = past.state {
            StandardStream.error.say("the run `\(past.run)` goes on")
        } else {
            StandardStream.error.say("the run `\(past.run)` was interrupted here: its journal has no end")
        }
    }

    /// Reports the amount of missing output, with the first steps that miss some; nil if the output is complete.
    private static func missing(_ steps: [(step: String, size: Int)]) -> String? {
        guard !steps.isEmpty else { return nil }
        let named = steps.prefix(8).map { "\($0.size.counted("byte")) of `\($0.step)`" }
        let rest = steps.dropFirst(8)
        let size = rest.reduce(0) { $0 + $1.size }
        let more = rest.isEmpty ? [] : ["\(size.counted("byte")) of \(rest.count.counted("other"))"]
        return "output was not kept: \((named + more).joined(separator: ", "))"
    }
}

/// Standard output as a blocking sink for a log.
private final class AnswerSink: RecordSink {
    private(set) var failure: SystemError?

    func write(_ record: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        do throws(SystemError) {
            try WholeFile.write(record, to: STDOUT_FILENO)
        } catch {
            failure = error
        }
    }
}

/// `flowrun runs`: the recorded runs, the last one first.
struct RunsCommand {
    private let selector: RunSelector
    private let isJSON: Bool

    init(_ arguments: Arguments) {
        selector = RunSelector(arguments, operand: arguments.operands.first)
        isJSON = arguments.value(.format) == "json"
    }

    func callAsFunction() throws(CommandError) {
        let (directory, workflow) = try selector.place()
        let history = RunHistory(in: directory)
        let runs = try selector.isFileNamed ? history.runs(of: workflow) : history.runs()
        try StandardStream.output.deliver(isJSON ? .json(json(runs)) : .lines(text(runs)))
    }

    /// Returns one line per run: id, start, outcome, duration, file, counts.
    private func text(_ runs: [PastRun]) -> String {
        let states = runs.map(\.state)
        let width = states.map(\.word.count).max() ?? 0
        return zip(runs, states).map { run, state in
            var line = "\(run.run)  \(Timestamp.text(secondsSince1970: run.header.time / 1_000_000))Z"
            line += "  \(state.word.padded(to: width))"
            line += "  " + (state.end.map { TimeText.duration($0.duration) } ?? "").padded(to: 9)
            line += "  \(run.header.file)"
            if let end = state.end { line += "  \(end.counts.words.joined(separator: ", "))" }
            return line.withoutEndSpaces.asOneLine + "\n"
        }.joined()
    }

    private func json(_ runs: [PastRun]) -> String {
        JSONWriter.line { json in
            json.array { json in
                for run in runs {
                    let state = run.state
                    json.object { json in
                        json.field("run", run.run)
                        json.field("file", run.header.file)
                        json.field("path", run.header.path)
                        json.timestamp("time", microseconds: run.header.time)
                        json.field("state", state.word)
                        json.field("duration", state.end?.duration)
                        guard let end = state.end else { return json.null("counts") }
                        end.counts.write("counts", to: &json, isJournal: false)
                    }
                }
            }
        }
    }
}

/// `flowrun why`: the reason why a step of the last run, or of a live one, ended as it did.
struct WhyCommand {
    private let step: String
    /// nil for the last one.
    private let run: String?
    private let selector: RunSelector
    private let isJSON: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        // A single word is the step, even if there is a file of that name.
        let (file, words) = (arguments.operands.first, arguments.operands)
        if words.count > 1, let file, arguments.has(.file) || !WorkflowChoice.isFile(file) {
            throw arguments.has(.file)
                ? .syntax("unexpected `\(words[1])`: `why` takes one STEP", .why) : WorkflowChoice.missing(file)
        }
        run = arguments.value(.run)
        isJSON = arguments.value(.format) == "json"
        selector = RunSelector(arguments, operand: words.count > 1 ? file : nil)
        let word = words[words.count - 1]
        step = selector.file.map { WorkflowChoice.id(of: word, in: $0) } ?? word
    }

    func callAsFunction() throws(CommandError) {
        let (directory, workflow) = try selector.place()
        if let live = try liveRun(in: directory, of: workflow) {
            let ask = { (step: String) throws(CommandError) in
                try selector.ask(.why(step: step), of: live, in: directory).0
            }
            let answer: JSONObject
            do throws(CommandError) { answer = try ask(step) } catch {
                // It may run other steps than the run before.
                let past = run == nil ? try? selector.pastRuns(option: "--run").filter { !$0.isLive } : nil
                do throws(CommandError) { return try tell(ofOneOf: past ?? []) } catch _ { throw error }
            }
            guard let report = StepReport(answer) else { throw selector.unintelligible(live) }
            return try deliver(report) { report.text { root in (try? ask(root)).flatMap { StepReport($0) } } }
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
                return try deliver(report) { report.text(file: journal.file(ofStep:), view.report(of:)) }
            }
            let limit =
                damage.map { ", as far as its journal can be read: \($0)" }
                ?? (journal.isFinished ? "" : " before it was interrupted")
            missing =
                missing
                ?? .failed(
                    "the run `\(past.run)` of `\(past.header.file)` had no step or group `\(step)`\(limit)"
                        + (reasonNotChosen(in: past) ?? suggestion(among: view.ids).map { "; did you mean `\($0)`?" }
                            ?? ""))
            if past.header.targets.isEmpty || !journal.isFinished { break }
        }
        let subject = selector.file.map { "`\($0)`" } ?? "this folder"
        throw missing ?? .failed("no run of \(subject) has ended yet; `flowrun runs` lists all runs")
    }

    private func deliver(_ report: StepReport, _ text: () -> String) throws(CommandError) {
        try StandardStream.output.deliver(
            isJSON ? .json(JSONWriter.line { $0.object { $0.fields(of: report) } }) : .lines(text()))
    }

    /// Returns why a run did not include the step, although its file has it; nil if it does not.
    private func reasonNotChosen(in past: PastRun) -> String? {
        guard let path = past.header.path, let plan = WorkflowLoader(path, allowsOutside: true).plan,
            var row = plan.row(ofID: step)
        else { return nil }
        let targets = past.header.targets
        guard targets.isEmpty else { return ": it ran only \(Phrase.all(targets)), with what they need" }
        while plan.settings(of: row)?.isManual != true, row != .root { row = plan.nodes[row].parent }
        guard row == .root else { return ": `\(plan.nodes[row].id)` is `manual`, and nothing that ran needs it" }
        return ": `default` does not name it, and nothing that ran needs it"
    }

    private func suggestion(among ids: [String]) -> String? {
        ids.first { $0.hasSuffix("." + step) } ?? Suggestion.nearest(to: step, among: ids)
    }

    /// Returns the live run to ask; nil if the run has ended.
    private func liveRun(in directory: StateDirectory, of workflow: String?) throws(CommandError) -> String? {
        let live = ControlClient.liveRuns(in: directory)
        if let run { return live.contains(run) ? run : nil }
        guard let workflow else {
            if selector.isFileNamed { return try selector.ofStandardInput(live, in: directory).first }
            let runs = live.count < 2 ? [] : (try? RunHistory(in: directory).runs()) ?? []
            return runs.map(\.run).first(where: live.contains) ?? live.first
        }
        // Of several, the one that began last and is inside of none.
        let runs = RunLock.entries(of: workflow, in: directory).map(\.holder).filter { live.contains($0.run) }
        return (runs.filter { $0.parent == nil }.max { $0.number < $1.number } ?? runs.first)?.run
    }
}
