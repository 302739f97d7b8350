internal import Basics
internal import RunLog

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
