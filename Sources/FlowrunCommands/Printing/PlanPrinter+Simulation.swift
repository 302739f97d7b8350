internal import Basics
internal import Planning
internal import Running
internal import Workflow

extension PlanPrinter {
    /// When each step would start and end, in the order of the starts, and when everything would be over.
    func simulationText(_ run: SimulatedRun) -> String {
        let spans = steps.compactMap { row in run.spans[row.offset].map { (row: row, span: $0) } }
            .sorted { ($0.span.start, $0.row) < ($1.span.start, $1.row) }
        var text = "\nsimulated with \(jobs.counted("job"))"
        if usualSteps > 0 {
            text += ", \(usualSteps.counted("step")) of unknown duration as \(TimeText.duration(usualLength))"
        }
        text += "\n"
        let makespan = TimeText.duration(run.makespan)
        for (row, span) in spans {
            let start = TimeText.duration(span.start).indented(to: makespan.utf8.count)
            let finish = TimeText.duration(span.finish).indented(to: makespan.utf8.count)
            text += "  \(start) - \(finish)  \(title(of: row))\n"
        }
        return text + "makespan: \(makespan)\n"
    }
}
