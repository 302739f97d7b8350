internal import ArgumentParser

struct CtlCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "ctl", abstract: "Steer a live run.",
        usage: """
            flowrun ctl [<options>] [<run>] status [--format <format>]
            flowrun ctl [<options>] [<run>] pause [--stop] | resume
            flowrun ctl [<options>] [<run>] cancel [<step>] | jobs <n>
            """,
        discussion: """
            status       what runs, what waits, and how many have ended
            pause        start nothing new; with --stop, what runs stands still too
            resume       go on
            cancel STEP  end a step or group; without STEP the whole run
            jobs N       how many steps may run at once from now on
            """)

    @Argument(
        help: ArgumentHelp("The id of a run, where several live; then what to do.", valueName: "request"),
        completion: .list(CtlCommand.verbs))
    var words: [String]

    @OptionGroup var finder: RunFinder

    @Flag(help: "With pause: stop what runs where it is.")
    var stop = false

    @Option(help: "How to answer `status`: text or json.")
    var format: Format = .text

    private static let verbs = ["status", "pause", "resume", "cancel", "jobs"]

    func validate() throws {
        _ = try request()
    }

    func run() throws {
        let (run, request) = try request()
        let (directory, workflow) = try finder.place()
        let live = try finder.liveRun(run, in: directory, of: workflow)
        let (fields, reply) = try finder.ask(request, of: live, in: directory)
        guard request == .status else { return try Answer.give("\(fields.string("message") ?? "accepted")\n") }
        switch format {
        case .json: try Answer.give(String(decoding: reply, as: UTF8.self) + "\n")
        case .text: try Answer.give(StatusPrinter(fields).text)
        }
    }

    /// What is asked, and of which run, nil for the one that is found.
    private func request() throws -> (run: String?, ControlRequest) {
        var rest = words[...]
        var run: String?
        if let first = rest.first, !Self.verbs.contains(first) { run = rest.removeFirst() }
        guard let verb = rest.popFirst(), Self.verbs.contains(verb) else {
            let found = run.map { "`\($0)` is no request" } ?? "there is no request"
            throw ValidationError("\(found); expected one of \(Self.verbs.joined(separator: ", "))")
        }
        if let run, run.utf8.contains(UInt8(ascii: "/")) {
            throw ValidationError("`\(run)` is no id of a run; a workflow file is named with --file")
        }
        let argument = rest.popFirst()
        guard rest.isEmpty, argument == nil || verb == "cancel" || verb == "jobs" else {
            throw ValidationError("`\((rest.first ?? argument)!)` is too much for `\(verb)`")
        }
        guard !stop || verb == "pause" else { throw ValidationError("--stop belongs to `pause`") }
        return (run, try request(verb, argument))
    }

    private func request(_ verb: String, _ argument: String?) throws -> ControlRequest {
        switch verb {
        case "pause": return .pause(freezing: stop)
        case "resume": return .resume
        case "cancel": return .cancel(step: argument)
        case "jobs":
            guard let number = argument.flatMap({ Int($0) }), number >= 1, number < 1_000_000 else {
                let found = argument.map { "jobs \($0)" } ?? "jobs"
                throw ValidationError("\(found): expected how many steps may run at once, at least 1")
            }
            return .jobs(number)
        default: return .status
        }
    }
}
