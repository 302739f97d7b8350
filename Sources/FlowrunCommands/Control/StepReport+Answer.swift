internal import Reporting
internal import RunEvents

extension StepReport {
    /// What one JSON object says of a step.
    init(_ fields: JSONFields) {
        self.init(
            step: fields.string("step") ?? "", state: fields.string("outcome") ?? fields.string("state") ?? "unknown")
        item = fields.string("item")
        if let attempt = fields.int("attempt"), attempt > 1 {
            details.append("attempt \(attempt)")
            let earlier = fields.strings("earlier")
            if !earlier.isEmpty { details.append("after \(earlier.joined(separator: ", "))") }
        }
        let needs = fields.strings("waiting_for")
        if !needs.isEmpty { details.append("for \(needs.map { "`\($0)`" }.joined(separator: ", "))") }
        outputTail = fields.string("output_tail") ?? ""
        cause = fields.object("cause").flatMap(Cause.init)
    }

    /// Adds what the root of the chain wrote, where the root is another step, and where all of it is.
    mutating func addRoot(outputs: (any OutputPlaces)? = nil, _ find: (String) -> JSONFields?) {
        var writer = step
        if outputTail.isEmpty, case .step(let root) = cause?.root.subject, root != step {
            outputTail = find(root)?.string("output_tail") ?? ""
            writer = root
        }
        outputFile = outputs?.file(ofStep: writer)
    }
}

extension Cause {
    /// A chain out of its nested objects; nil if one of them is none.
    fileprivate init?(_ fields: JSONFields) {
        guard let kind = fields.string("kind").flatMap(Kind.init), let message = fields.string("message") else {
            return nil
        }
        let subject =
            fields.string("step").map(Subject.step) ?? fields.string("group").map(Subject.group)
            ?? fields.string("var").map(Subject.sharedValue) ?? .run
        self.init(
            kind: kind, message: message, subject: subject, file: fields.string("file"), line: fields.int("line"),
            next: fields.object("cause").flatMap(Cause.init).map(CauseLink.because) ?? .root)
    }
}
