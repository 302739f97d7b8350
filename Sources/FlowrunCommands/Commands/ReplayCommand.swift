internal import Basics
internal import Glibc
internal import RunLog

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
