internal import Basics
internal import SourceDiagnostics
internal import WorkflowModel

/// What can be asked of a live run, one line of JSON each; the reply is one line too.
///
/// Version 1 of the protocol. A reply has `v` and either `error` with what was wrong, or `message`, or the fields of
/// the answer. Both sides refuse another version. A request that is not understood to its last field is not carried out:
/// what it meant to name may be all that kept it from reaching further. Fields of a reply that are not known are skipped.
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
        guard let fields = JSONFields(line) else {
            throw ControlRequestError(message: "the request is not a JSON object")
        }
        guard fields.int("v") == Self.version else {
            throw ControlRequestError(message: "this run understands version \(Self.version) of requests only")
        }
        let words = Accepted.fields.keys.sorted()
        guard let word = fields.string("request"), let accepted = Accepted.fields[word] else {
            let found = fields.string("request").map { "unknown request `\($0)`" } ?? "no request"
            throw ControlRequestError(message: "\(found); expected \(Phrase.alternatives(words))")
        }
        try accepted.check(fields, of: word)
        switch word {
        case "status": self = .status
        case "pause": self = .pause(freezing: fields.bool("stop") ?? false)
        case "resume": self = .resume
        case "cancel": self = .cancel(step: fields.string("step"))
        case "jobs":
            guard let number = fields.int("n"), number >= 1 else {
                throw ControlRequestError(message: "at least one step must be allowed to run")
            }
            self = .jobs(number)
        default: self = .why(step: fields.string("step") ?? "")
        }
    }
}

/// What a request may say beside `v` and `request`.
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

    func check(_ fields: JSONFields, of request: String) throws(ControlRequestError) {
        for field in fields.names {
            guard field == "v" || field == "request" || field == name else {
                throw ControlRequestError(message: "`\(request)` does not know `\(field)`; it takes \(words)")
            }
        }
        guard let name else { return }
        guard let value = fields[name] else {
            guard isNeeded else { return }
            throw ControlRequestError(message: "`\(request)` needs \(words)")
        }
        guard kind.fits(value) else {
            throw ControlRequestError(message: "`\(request)` takes \(words), not \(value.described)")
        }
    }
}

/// Why a request is not carried out; the message is for whoever sent it.
struct ControlRequestError: Error {
    let message: String
}
