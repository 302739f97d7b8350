internal import Basics
internal import Processes
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// A request to a live run, as one line of JSON; the reply is one line too.
///
/// Version 1 of the protocol. A reply has `v` and either `error` with the reason, or `message`, or the fields of the
/// answer. Both sides reject other versions. A request with an unknown field is rejected as a whole, because that
/// field may have limited its effect. Unknown fields of a reply are ignored.
enum ControlRequest: Sendable, Hashable {
    case status
    /// With `freezing`, running processes are stopped too.
    case pause(freezing: Bool)
    case resume
    /// A step or a group by its id, or with nil the whole run.
    case cancel(step: String?)
    case jobs(Int)
    case why(step: String)
    /// Replies once the run has given these claims up.
    case await(Set<Claim>)
    /// From a run inside of one of this run's steps: lends it these claims as long as the connection lasts.
    case lend(Set<Claim>, to: String)

    static let version = 1

    /// The request as one line, without a line feed.
    var line: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", Self.version)
            switch self {
            case .status: json.field("request", "status")
            case .pause(let freezing):
                json.field("request", "pause")
                json.field("stop", freezing)
            case .resume: json.field("request", "resume")
            case .cancel(let step):
                json.field("request", "cancel")
                if let step { json.field("step", step) }
            case .jobs(let number):
                json.field("request", "jobs")
                json.field("n", number)
            case .why(let step):
                json.field("request", "why")
                json.field("step", step)
            case .await(let claims): Self.write("await", claims, to: &json)
            case .lend(let claims, let run):
                Self.write("lend", claims, to: &json)
                json.field("run", run)
            }
        }
        return json.bytes
    }

    private static func write(_ request: String, _ claims: Set<Claim>, to json: inout JSONWriter) {
        json.field("request", request)
        json.array("claims") { json in for claim in claims.map(\.word).sorted() { json.value(claim) } }
    }

    init(line: [UInt8]) throws(ControlRequestError) {
        guard case .object(let members) = try? Value(json: String(decoding: line, as: UTF8.self)) else {
            throw ControlRequestError(message: "the request is not a JSON object")
        }
        let fields = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
        guard fields["v"] == .int(Self.version) else {
            throw ControlRequestError(message: "this run understands version \(Self.version) of requests only")
        }
        let words = Accepted.fields.keys.sorted()
        guard case .string(let word) = fields["request"], let accepted = Accepted.fields[word] else {
            let found =
                switch fields["request"] {
                case .string(let word): "unknown request `\(word)`"
                case let value?: "a request is a text, not \(value.described)"
                case nil: "no request"
                }
            throw ControlRequestError(message: "\(found); expected \(Phrase.alternatives(words))")
        }
        let value = try accepted.value(of: word, among: members)
        switch (word, value) {
        case ("status", _): self = .status
        case ("pause", .bool(let freezing)): self = .pause(freezing: freezing)
        case ("pause", _): self = .pause(freezing: false)
        case ("resume", _): self = .resume
        case ("cancel", .string(let step)): self = .cancel(step: step)
        case ("cancel", _): self = .cancel(step: nil)
        case ("jobs", .int(let number)) where number >= 1: self = .jobs(number)
        case ("jobs", _): throw ControlRequestError(message: "at least one step must be allowed to run")
        case ("await", .list(let claims)): self = .await(try Self.claims(claims))
        case ("lend", .list(let claims)):
            guard case .string(let run) = fields["run"], RunID.isValid(run) else {
                throw ControlRequestError(message: "`lend` needs `run`, the id of a run")
            }
            self = .lend(try Self.claims(claims), to: run)
        default: self = .why(step: value?.text ?? "")
        }
    }

    private static func claims(_ words: [Value]) throws(ControlRequestError) -> Set<Claim> {
        Set(
            try words.map { word throws(ControlRequestError) in
                guard case .string(let text) = word, let claim = Claim(word: text) else {
                    throw ControlRequestError(message: "a claim is a text such as `step:build`, not \(word.described)")
                }
                return claim
            })
    }
}

/// The fields that a request may have besides `v` and `request`.
private struct Accepted {
    enum Kind: String {
        case text = "a text"
        case number = "a whole number"
        case flag = "true or false"
        case list = "a list of texts"

        func fits(_ value: Value) -> Bool {
            switch (self, value) {
            case (.text, .string), (.number, .int), (.flag, .bool), (.list, .list): true
            default: false
            }
        }
    }

    let name: String?
    var kind = Kind.text
    var isNeeded = false
    /// A text that is needed besides; nil for none.
    var second: String?

    static let fields = [
        "status": Accepted(name: nil),
        "pause": Accepted(name: "stop", kind: .flag),
        "resume": Accepted(name: nil),
        "cancel": Accepted(name: "step"),
        "jobs": Accepted(name: "n", kind: .number, isNeeded: true),
        "why": Accepted(name: "step", isNeeded: true),
        "await": Accepted(name: "claims", kind: .list, isNeeded: true),
        "lend": Accepted(name: "claims", kind: .list, isNeeded: true, second: "run"),
    ]

    private var words: String { name.map { "`\($0)`, \(kind.rawValue)" } ?? "no more fields" }

    /// Returns the value of the field; nil if it is missing and optional.
    func value(of request: String, among members: [Value.Field]) throws(ControlRequestError) -> Value? {
        var found: Value?
        for member in members where !["v", "request", second].contains(member.name) {
            guard member.name == name else {
                throw ControlRequestError(message: "`\(request)` does not know `\(member.name)`; it takes \(words)")
            }
            found = member.value
        }
        guard let found else {
            guard isNeeded else { return nil }
            throw ControlRequestError(message: "`\(request)` needs \(words)")
        }
        guard kind.fits(found) else {
            throw ControlRequestError(message: "`\(request)` takes \(words), not \(found.described)")
        }
        return found
    }
}

/// The reason why a request is rejected; the message is for its sender.
struct ControlRequestError: Error {
    let message: String
}

/// Answers the requests to a live run.
@EventLoopActor
struct ControlRequestHandler {
    private let runner: WorkflowRunner
    private let view: RunView
    /// Calls back once nothing is left of a run whose process is gone.
    private let whenGone: @EventLoopActor (String, @escaping @EventLoopActor () -> Void) -> Void

    init(
        runner: WorkflowRunner, view: RunView,
        whenGone: @escaping @EventLoopActor (String, @escaping @EventLoopActor () -> Void) -> Void = { $1() }
    ) {
        self.runner = runner
        self.view = view
        self.whenGone = whenGone
    }

    /// Returns one line of JSON for one line of JSON, both without a line feed; nil if it keeps the connection.
    func answer(_ line: [UInt8], _ connection: ControlConnection) -> [UInt8]? {
        let request: ControlRequest
        do throws(ControlRequestError) { request = try ControlRequest(line: line) } catch {
            return Self.reply { $0.field("error", error.message) }
        }
        switch request {
        case .await(let claims):
            let claimed = runner.claims
            let number = claimed.wait(for: claims) {
                connection.send(Self.reply { $0.field("message", "given up") })
            }
            connection.keep { claimed.forget(number) }
            return nil
        case .lend(let claims, let run): return lend(claims, to: run, on: connection)
        default: return reply(to: request)
        }
    }

    /// Returns the reply to a request that does not keep its connection.
    func reply(to request: ControlRequest) -> [UInt8] {
        Self.reply { json in
            do throws(ControlRequestError) { try carryOut(request, into: &json) } catch {
                json.field("error", error.message)
            }
        }
    }

    private static func reply(_ fields: (inout JSONWriter) -> Void) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", ControlRequest.version)
            fields(&json)
        }
        return json.bytes
    }

    /// Lends claims until the connection is closed and nothing of the run is left. The reply names those that this run
    /// is using, if it cannot.
    private func lend(_ claims: Set<Claim>, to run: String, on connection: ControlConnection) -> [UInt8]? {
        var inUse: [Claim] = []
        let claimed = runner.claims
        guard let loan = claimed.lend(claims, inUse: &inUse) else {
            return Self.reply { json in
                json.array("in_use") { json in for claim in inUse.map(\.word).sorted() { json.value(claim) } }
            }
        }
        connection.keep { whenGone(run) { claimed.end(loan: loan) } }
        connection.send(Self.reply { $0.field("message", "lent") })
        return nil
    }

    private func carryOut(
        _ request: ControlRequest, into json: inout JSONWriter
    ) throws(ControlRequestError) {
        switch request {
        case .status: json.fields(of: runner.status)
        case .pause(let freezing):
            try requireLiveRun()
            guard !runner.isStopping else { throw ControlRequestError(message: "the run is being cancelled") }
            let isNew = runner.pause(by: "ctl", freezing: freezing)
            json.field("message", isNew ? freezing ? "paused, and stopped what runs" : "paused" : "paused already")
        case .resume:
            try requireLiveRun()
            json.field("message", runner.resume(by: "ctl") ? "resumed" : "not paused")
        case .cancel(let step):
            json.field("message", try cancel(step))
        case .jobs(let number):
            try requireLiveRun()
            runner.setJobs(number, by: "ctl")
            json.field("message", "up to \(number.counted("step")) at once")
        case .why(let step):
            json.fields(of: try report(of: step))
        // Answered by `answer`, because they keep the connection.
        case .await, .lend: break
        }
    }

    /// Throws if the run is over, which still answers while its log is written.
    private func requireLiveRun() throws(ControlRequestError) {
        guard let outcome = runner.outcome else { return }
        throw ControlRequestError(message: "the run has ended already: \(outcome.rawValue)")
    }

    private func cancel(_ step: String?) throws(ControlRequestError) -> String {
        let subject = step.map { "`\($0)`" } ?? "the run"
        switch runner.cancel(step) {
        case .accepted: return "cancelling \(subject)"
        case .isEndingAlready: return "\(subject) is being cancelled already"
        case .hasEnded(let outcome): return "\(subject) has ended already: \(outcome.rawValue)"
        case .unknown(let suggestion): throw unknown(step ?? "", suggestion)
        }
    }

    private func report(of step: String) throws(ControlRequestError) -> StepReport {
        var report = view.report(of: step) ?? StepReport(step, outcome: nil)
        switch runner.progress(of: step) {
        case nil: if report.outcome == nil { throw unknown(step, runner.suggestion(for: step)) }
        case .ended(let outcome):
            report.outcome = outcome
            // The view has the output only once the run is over.
            if report.outputTail == nil { report.outputTail = runner.outputTail(of: step) }
        case .running(let attempt):
            report = StepReport(step, state: "running")
            report.attempt = attempt
        case .waiting(let needs):
            report = StepReport(step, state: "waiting")
            report.needs = needs
        }
        return report
    }

    private func unknown(_ step: String, _ suggestion: String?) -> ControlRequestError {
        ControlRequestError(
            message: "no step or group `\(step)`" + (suggestion.map { "; did you mean `\($0)`?" } ?? ""))
    }
}
