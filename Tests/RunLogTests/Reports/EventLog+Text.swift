import FlowrunTestSupport
import Testing

@testable import RunLog

extension EventLog {
    /// What the text reporter makes of it. Every record is whole lines.
    func text(output: OutputMode = .grouped, isColored: Bool = false, isVerbose: Bool = false) -> String {
        let sink = RecordingSink()
        let options = TextReporter.Options(output: output, isColored: isColored, isVerbose: isVerbose)
        report(to: Viewed { TextReporter(sink: sink, view: $0, options: options) })
        for record in sink.records { #expect(record.last == UInt8(ascii: "\n")) }
        return sink.text
    }
}

extension RunEvent.Kind {
    static func started(_ step: String) -> Self {
        .stepStarted(StepStarted(step: step, attempt: 1, pid: 1, command: .script(":"), line: 1))
    }

    static func ended(_ step: String) -> Self {
        .stepFinished(StepFinished(step: step, attempt: 1, outcome: .success, duration: .milliseconds(1)))
    }
}
