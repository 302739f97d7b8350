internal import Basics
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
            }
        }
        return json.bytes
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
        default: self = .why(step: value?.text ?? "")
        }
    }
}

/// The field that a request may have besides `v` and `request`.
private struct Accepted {
    enum Kind: String {
        case text = "a text"
        case number = "a whole number"
        case flag = "true or false"

        func fits(_ value: Value) -> Bool {
            switch (self, value) {
            case (.text, .string), (.number, .int), (.flag, .bool): true
            default: false
            }
        }
    }

    let name: String?
    var kind = Kind.text
    var isNeeded = false

    static let fields = [
        "status": Accepted(name: nil),
        "pause": Accepted(name: "stop", kind: .flag),
        "resume": Accepted(name: nil),
        "cancel": Accepted(name: "step"),
        "jobs": Accepted(name: "n", kind: .number, isNeeded: true),
        "why": Accepted(name: "step", isNeeded: true),
    ]

    private var words: String { name.map { "`\($0)`, \(kind.rawValue)" } ?? "no more fields" }

    /// Returns the value of the field; nil if it is missing and optional.
    func value(of request: String, among members: [Value.Field]) throws(ControlRequestError) -> Value? {
        var found: Value?
        for member in members where member.name != "v" && member.name != "request" {
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
