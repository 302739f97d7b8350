internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// `retry`: how often, after how long, and after which ends.
    mutating func retry(_ entry: MappingReader.Entry?) -> Retry? {
        guard let entry else { return nil }
        guard entry.value.kind == .mapping else {
            let isCount = entry.value.type == .int && (1...Self.attemptLimit).contains(Int(entry.value.text) ?? 0)
            reportType(
                entry, expected: "a mapping such as `{ attempts: 3, delay: 5s }`",
                fix: isCount ? replacing(entry.value, by: "{ attempts: \(entry.value.text) }") : nil)
            return nil
        }
        let fields = fields(entry.value, of: .retry)
        if fields.take("attempts") == nil {
            report(
                .missingKey, "\(Phrase.quoted(entry.key.text)) does not say how many `attempts` there may be",
                at: entry.key,
                fix: .init("add `attempts:` with the number of all attempts, the first included"))
        }
        reportLonelyDelays(fields)
        let delay = duration(fields.take("delay"), mayBeZero: true)
        let longest = duration(fields.take("max-delay"))
        if let delay, let longest, longest < delay, let entry = fields.take("max-delay") {
            report(
                .invalidValue,
                "`max-delay` is shorter than the `delay` of \(delay.asWritten), found `\(entry.value.text)`",
                at: entry.value, fix: .init("write a longer one, or remove it"))
        }
        return Retry(
            attempts: count(fields.take("attempts"), limit: Self.attemptLimit) ?? 1, delay: delay ?? .zero,
            backoff: decimal(fields.take("backoff"), from: 1, to: 1000) ?? 1, maxDelay: longest,
            jitter: decimal(fields.take("jitter"), from: 0, to: 1) ?? 0, reasons: retryReasons(fields.take("when")),
            deadline: timeLimit(fields.take("deadline")), range: entry.key.range)
    }

    static let attemptLimit = 1000

    private mutating func reportLonelyDelays(_ fields: FieldReader) {
        guard fields.take("delay") == nil else { return }
        for word in ["backoff", "max-delay", "jitter"] {
            guard let entry = fields.take(word) else { continue }
            report(
                .conflictingKeys, "`\(word)` says nothing without `delay`", at: entry.key,
                fix: .init("add `delay:` with the time before the second attempt"))
        }
    }

    /// `when`: exit codes, `timeout` and `signal`.
    private mutating func retryReasons(_ entry: MappingReader.Entry?) -> [Retry.Reason] {
        guard let entry else { return [] }
        return items(entry, expected: Self.reasons, mayBeAlone: false).compactMap { node in
            switch node.text {
            case "timeout": return .timeout
            case "signal": return .signal
            default: break
            }
            if node.type == .int, let code = Int32(node.text), (1...255).contains(code) { return .exitCode(code) }
            reportReason(node)
            return nil
        }
    }

    private static let reasons = "a list of exit codes, `timeout` and `signal`"

    private mutating func reportReason(_ node: YAMLNode) {
        guard !isExpression(node) else { return }
        let text = node.text
        let number = Int(text)
        let fix: Diagnostic.Fix? =
            if node.type == .string, let number, (1...255).contains(number) {
                replacing(node, by: String(number), "write `\(number)` without quotes")
            } else if number == 0 {
                .init("remove it: an attempt that ends with 0 has succeeded")
            } else if ["failure", "error", "always", "any", "on_failure", "OnFailure", "OnError"].contains(text) {
                .init("remove `when`: without it any failure or timeout is tried again")
            } else {
                Suggestion.nearest(to: text, among: ["timeout", "signal"]).map { replacing(node, by: $0) }
            }
        report(
            .invalidValue,
            "an entry of `when` is an exit code from 1 to 255, `timeout` or `signal`, found \(found(node))", at: node,
            fix: fix)
    }
}
