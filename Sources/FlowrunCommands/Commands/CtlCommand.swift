internal import Basics
internal import RunLog
internal import Syntax

/// The requests of `flowrun ctl`.
enum ControlVerb: String, CaseIterable {
    case status, pause, resume, cancel, jobs
}

/// `flowrun ctl`: one request to a live run.
struct CtlCommand {
    private let selector: RunSelector
    /// nil to let `selector` find the live run.
    private let run: String?
    private let request: ControlRequest
    private let isJSON: Bool

    init(_ arguments: Arguments) throws(CommandError) {
        var rest = arguments.operands[...]
        var run: String?
        var file: String?
        if let first = rest.first, ControlVerb(rawValue: first) == nil {
            rest.removeFirst()
            if WorkflowChoice.isFile(first), !arguments.has(.file) { file = first } else { run = first }
        }
        guard let verb = rest.popFirst().flatMap(ControlVerb.init) else {
            let verbs = ControlVerb.allCases.map(\.rawValue)
            let found = run.map { "`\($0)` is not a request" } ?? "no request is given"
            let near = run.flatMap { Suggestion.nearest(to: $0, among: verbs) }
            let advice = near.map { "did you mean `\($0)`?" } ?? "expected \(Phrase.alternatives(verbs))"
            throw .syntax("\(found); \(advice)", .ctl)
        }
        let argument = rest.popFirst()
        guard rest.isEmpty, argument == nil || verb == .cancel || verb == .jobs else {
            throw .syntax("unexpected `\((rest.first ?? argument)!)` after `\(verb.rawValue)`", .ctl)
        }
        guard !arguments.has(.stop) || verb == .pause else { throw .usage("--stop belongs to `pause`") }
        self.run = run
        selector = RunSelector(arguments, operand: file)
        request = try Self.request(verb, argument, isStopping: arguments.has(.stop))
        isJSON = arguments.value(.format) == "json"
    }

    private static let jobsAllowed = 1...999_999

    private static func request(
        _ verb: ControlVerb, _ argument: String?, isStopping: Bool
    ) throws(CommandError) -> ControlRequest {
        switch verb {
        case .status: return .status
        case .pause: return .pause(freezing: isStopping)
        case .resume: return .resume
        case .cancel: return .cancel(step: argument)
        case .jobs:
            guard let number = argument.flatMap({ Int($0) }), jobsAllowed.contains(number) else {
                let found = argument.map { "found `\($0)`" } ?? "found none"
                throw .usage("`jobs` needs the number of steps that may run at once, 1 to 999,999; \(found)")
            }
            return .jobs(number)
        }
    }

    func callAsFunction() throws(CommandError) {
        let (directory, workflow) = try selector.place()
        let live = try selector.liveRun(run, in: directory, of: workflow)
        let (fields, reply) = try selector.ask(request, of: live, in: directory)
        guard request == .status else {
            return try StandardStream.output.deliver(.lines("\(fields.string("message")?.visible ?? "accepted")\n"))
        }
        if isJSON { return try StandardStream.output.deliver(.json(String(decoding: reply, as: UTF8.self) + "\n")) }
        guard let status = RunStatus(fields) else { throw selector.unintelligible(live) }
        try StandardStream.output.deliver(.lines(StatusPrinter(status).text))
    }
}

/// The state of a live run as text for users.
struct StatusPrinter {
    private static let waitingNamed = 8

    private let status: RunStatus

    init(_ status: RunStatus) { self.status = status }

    /// Whole lines: the run, each running step, the waiting steps, the counts of the ended ones.
    var text: String {
        var lines = ["\(status.file): \(state) (run \(status.run))"]
        for step in status.running {
            let attempt = step.attempt > 1 ? ", attempt \(step.attempt)" : ""
            lines.append("  \(step.state.rawValue)  \(step.step)  \(seconds(step.duration))\(attempt)")
        }
        for value in status.values {
            lines.append("  \(value.state.rawValue)  \(value.value.words)  \(seconds(value.duration))")
        }
        if !status.waiting.isEmpty {
            let named = status.waiting.prefix(Self.waitingNamed).joined(separator: ", ")
            let more = status.waiting.count - Self.waitingNamed
            lines.append("  waiting  \(named)" + (more > 0 ? " and \(more) more" : ""))
        }
        let counts = status.counts.words
        lines.append("  ended    " + (counts.isEmpty ? "none" : counts.joined(separator: ", ")))
        return lines.map { $0.asOneLine + "\n" }.joined()
    }

    private var state: String {
        if let outcome = status.outcome { return "over, \(outcome.rawValue), but its log is still being written" }
        let elapsed = seconds(status.elapsed)
        let state =
            status.isStopping
            ? "stopping, \(elapsed) after its start"
            : status.isPaused ? "paused, \(elapsed) after its start" : "running for \(elapsed)"
        return "\(state), up to \(status.jobs) at once"
    }

    private func seconds(_ duration: Duration) -> String { "\(duration.components.seconds)s" }
}
