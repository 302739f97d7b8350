internal import Basics

/// What can be asked of a live run, one line of JSON each; the reply is one line too.
///
/// Version 1 of the protocol. A reply has `v` and either `error` with what was wrong, or `message`, or the fields of
/// the answer. Both sides refuse another version and skip fields that they do not know.
enum ControlRequest: Sendable, Hashable {
    case status
    /// `freezing`: what runs stands still too.
    case pause(freezing: Bool)
    case resume
    /// A step or a group by its id, or with nil the whole run.
    case cancel(step: String?)
    case jobs(Int)
    case why(step: String)

    static let version = 1

    /// One line without its end.
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
                json.field("step", step)
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
        guard let fields = JSONFields(line) else {
            throw ControlRequestError(message: "the request is not a JSON object")
        }
        guard fields.int("v") == Self.version else {
            throw ControlRequestError(message: "this run understands version \(Self.version) of requests only")
        }
        switch fields.string("request") {
        case "status": self = .status
        case "pause": self = .pause(freezing: fields.bool("stop") ?? false)
        case "resume": self = .resume
        case "cancel": self = .cancel(step: fields.string("step"))
        case "jobs":
            guard let number = fields.int("n"), number >= 1 else {
                throw ControlRequestError(message: "at least one step must be allowed to run")
            }
            self = .jobs(number)
        case "why":
            guard let step = fields.string("step") else { throw ControlRequestError(message: "`why` needs a `step`") }
            self = .why(step: step)
        case let word: throw ControlRequestError(message: "unknown request `\(word ?? "")`")
        }
    }
}

/// Why a request is not carried out; the message is for whoever sent it.
struct ControlRequestError: Error {
    let message: String
}
