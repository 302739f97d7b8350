internal import Basics
internal import Syntax

extension WorkflowDecoder {
    /// The less common keys of a place; nil if it has none of them.
    mutating func decodeSettings(_ reader: borrowing MappingReader, in place: KeyPlace) -> Settings? {
        var keys = reader.present.subtracting(place == .top ? Self.readElsewhereAtTop : Self.readElsewhere)
        if place == .step, reader.has(.params) { keys.insert(.params) }
        guard !keys.isEmpty else { return nil }
        var fanOut = decodeFanOut(reader, in: place)
        let condition = condition(reader.take(.if))
        if let condition, fanOut?.has(aVariableOf: condition) == true { fanOut?.decidesCopies = true }
        if fanOut != nil { keys.insert(.forEach) }
        var said = KeySet()
        var values: [any Sendable] = []
        for key in keys {
            let value: (any Sendable)? =
                switch key {
                case .forEach: fanOut
                case .if: condition
                default: setting(key, reader.entry(key), in: place)
                }
            guard let value else { continue }
            said.insert(key)
            values.append(value)
        }
        let settings = said.isEmpty ? nil : Settings(said, values)
        if said.contains(.params), let settings { checkParameters(of: settings) }
        return preconditions.isEmpty || place == .step || place == .use ? settings : addingPreconditions(to: settings)
    }

    /// Places the commands of `require` that have been read among the `vars` of a group: they run like those.
    mutating func addingPreconditions(to settings: Settings?) -> Settings {
        defer { preconditions = [] }
        return Settings([.vars: (settings?.sharedValues ?? []) + preconditions]).merged(with: settings)
    }

    /// Keys that are not settings.
    private static let readElsewhere: KeySet = [
        .version, .default, .needs, .uses, .with, .params, .run, .defaults, .outputLimit, .pools, .templates, .steps,
        .onFailure, .finally,
    ]
    private static let readElsewhereAtTop = readElsewhere.union([.name, .description, .secrets])

    /// The value of a key in the type of the property of `Settings`; nil if it has no effect.
    private mutating func setting(
        _ key: WorkflowKey, _ entry: MappingReader.Entry, in place: KeyPlace
    ) -> (any Sendable)? {
        if document.hasExpressions, let computed = computedSetting(key, entry, in: place) { return computed.map { $0 } }
        return switch key.definition.type(in: place) {
        case .text: text(entry)
        case .aliases: Self.unlessEmpty(aliases(entry))
        case .flag where key == .interactive: bool(entry) == true ? entry.key.range : nil
        case .flag where key == .internal: isInternal(entry)
        case .flag: bool(entry) == true ? true : nil
        case .requirements: Self.unlessEmpty(requirements(entry, in: place))
        case .question: question(entry)
        case .params: Self.unlessEmpty(stepParameters(entry))
        case .vars: Self.unlessEmpty(sharedValues(entry))
        case .secretUses: Self.unlessEmpty(secretUses(entry))
        case .environment: Self.unlessEmpty(environment(entry))
        case .envPolicy: word(entry, as: EnvironmentPolicy.self)
        case .dotenv: Self.unlessEmpty(dotenv(entry))
        case .shell: shell(entry)
        case .folder: folder(entry)
        case .scalar: templateText(entry)
        case .streams: word(entry, as: OutputStreams.self)
        case .log: word(entry, as: LogView.self)
        case .groupOutputs: Self.unlessEmpty(groupOutputs(entry))
        case .stepOutputs: Self.unlessEmpty(stepOutputs(entry))
        case .duration: timeLimit(entry)
        case .grace: duration(entry, mayBeZero: true)
        case .signal: killSignal(entry)
        case .retry: retry(entry)
        case .poolRequests: Self.unlessEmpty(poolRequests(entry))
        case .mutexes: Self.unlessEmpty(mutexRequests(entry))
        case .platforms: Self.unlessEmpty(platforms(entry))
        case .wholeNumber where key == .maxItems: nil
        case .wholeNumber: wholeNumber(entry, in: key.definition.range)
        case .failFast: failFast(entry)
        case .order: sequenceRange(entry)
        case .jobserver: jobserver(entry)
        case .isolation: word(entry, as: Isolation.self).map { _ in entry.key.range.through(entry.value.range) }
        case .undoes: undoneSteps(entry)
        // Together, as the fan-out.
        case .matrix, .items, .variable, .label: nil
        // Of keys that are read elsewhere, or of words below a key.
        case .version, .stepIDs, .needs, .condition, .bodyName, .arguments, .secrets, .run, .defaults, .size, .pools,
            .templates, .steps, .hook, .attempts, .factor, .share, .retryReasons, .parameterType, .scalars,
            .path, .outputType, .outputSource, .literal:
            nil
        }
    }

    /// Reads the value of one key alone, for example `timeout: 5m`. Returns the reason if it is refused.
    static func value(
        of key: WorkflowKey, in place: KeyPlace, from text: String
    ) -> (value: (any Sendable)?, refusal: String?) {
        let (document, textFindings) = YAMLParser.parse(SourceFile(name: "", text: text))
        guard let document else { return (nil, textFindings.first?.message ?? "the value is not YAML") }
        var decoder = WorkflowDecoder(document.file, .none, isComputed: true)
        let value = document.withRoot { root -> (any Sendable)? in
            let reader = MappingReader(root)
            if key == .matrix { return decoder.decodeFanOut(reader, in: place) }
            return reader.has(key) ? decoder.setting(key, reader.entry(key), in: place) : nil
        }
        let errors = (textFindings + decoder.findings.sorted).filter { $0.severity == .error }
        return (value, errors.first?.message)
    }

    private static func unlessEmpty<Item>(_ items: [Item]) -> [Item]? { items.isEmpty ? nil : items }

    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ entry: MappingReader.Entry, as type: Word.Type
    ) -> Word? {
        word(entry, of: Word.allCases.map(\.rawValue)).flatMap(Word.init)
    }

    /// `confirm`: the text of a question.
    private mutating func question(_ entry: MappingReader.Entry) -> String? {
        guard entry.value.type == .string, entry.value.byteCount > 0 else {
            reportType(entry, expected: "the text of a question")
            return nil
        }
        return entry.value.text
    }

    mutating func timeLimit(_ entry: MappingReader.Entry?) -> TimeLimit? {
        guard let entry, let duration = duration(entry) else { return nil }
        return TimeLimit(duration: duration, range: entry.value.range)
    }

    /// Words of other tools for platforms.
    private static let foreignPlatforms = [
        "amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64", "darwin": "macos", "mac": "macos",
        "osx": "macos", "win": "windows",
    ]

    private mutating func platforms(_ entry: MappingReader.Entry) -> [Platform] {
        let words = Platform.allCases.map(\.rawValue)
        return items(entry, expected: "a list of platforms", mayBeAlone: false).compactMap { node in
            if let platform = Platform(rawValue: node.text) { return platform }
            guard !isExpression(node) else { return nil }
            let word = node.text.lowercased()
            let meant =
                words.first { $0 == word } ?? Self.foreignPlatforms[word]
                ?? Suggestion.nearest(to: word, among: words)
            report(
                .invalidValue, "a platform is one of \(Phrase.alternatives(words)), found \(Phrase.quoted(node.text))",
                at: node, fix: meant.map { replacing(node, by: $0) })
            return nil
        }
    }

    private mutating func failFast(_ entry: MappingReader.Entry) -> FailFastWord? {
        if entry.value.isText("drain") { return .drain }
        return bool(entry, expected: "`true`, `false` or `drain`").map { $0 ? .cancel : .off }
    }

    private mutating func jobserver(_ entry: MappingReader.Entry) -> JobserverForm? {
        if entry.value.isText("fifo") { return .path }
        return bool(entry, expected: "`true`, `false` or `fifo`") == true ? .descriptor : nil
    }

    private mutating func sequenceRange(_ entry: MappingReader.Entry) -> SourceRange? {
        let foreign = [
            "serial": "sequence", "serially": "sequence", "sequential": "sequence", "sequentially": "sequence",
            "series": "sequence", "ordered": "sequence", "file": "sequence", "concurrent": "parallel",
            "concurrently": "parallel", "any": "parallel", "unordered": "parallel", "none": "parallel",
        ]
        guard let order = word(entry, of: ["parallel", "sequence"], orFor: foreign) else { return nil }
        return order == "sequence" ? entry.key.range.through(entry.value.range) : nil
    }
}

extension SourceRange {
    /// From the start of this range to the end of a later one.
    fileprivate func through(_ other: SourceRange) -> SourceRange { SourceRange(start: start, end: other.end) }
}

extension WorkflowDecoder {
    /// `retry`: the number of attempts, the delays, and the outcomes to retry.
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
        reportMissingAttempts(fields, of: entry)
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
            attempts: wholeNumber(fields.take("attempts"), in: 1...Self.attemptLimit) ?? 1, delay: delay ?? .zero,
            backoff: decimal(fields.take("backoff"), from: 1, to: 1000) ?? 1, maxDelay: longest,
            jitter: decimal(fields.take("jitter"), from: 0, to: 1) ?? 0, reasons: retryReasons(fields.take("when")),
            deadline: timeLimit(fields.take("deadline")), range: entry.key.range)
    }

    static let attemptLimit = 1000

    mutating func reportMissingAttempts(_ fields: FieldReader, of entry: MappingReader.Entry) {
        guard fields.take("attempts") == nil else { return }
        report(
            .missingKey, "\(Phrase.quoted(entry.key.text)) needs `attempts`",
            at: entry.key,
            fix: .init("add `attempts:` with the number of all attempts, the first included"))
    }

    private mutating func reportLonelyDelays(_ fields: FieldReader) {
        guard fields.take("delay") == nil else { return }
        for word in ["backoff", "max-delay", "jitter"] {
            guard let entry = fields.take(word) else { continue }
            report(
                .conflictingKeys, "`\(word)` has no effect without `delay`", at: entry.key,
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
                .init("remove `when`: without it any failure or timeout is retried")
            } else {
                Suggestion.nearest(to: text, among: ["timeout", "signal"]).map { replacing(node, by: $0) }
            }
        report(
            .invalidValue,
            "an entry of `when` is an exit code from 1 to 255, `timeout` or `signal`, found \(found(node))", at: node,
            fix: fix)
    }
}

// The declared pools, and the locks that are requested. The planner checks that requested pools exist.
extension WorkflowDecoder {
    /// `pools`: names to sizes.
    mutating func pools(_ entry: MappingReader.Entry?) -> [Pool] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: "a mapping of names to sizes such as `{ emulator: 2 }`")
            return []
        }
        var pools: [Pool] = []
        for (key, value) in entry.value.entries where checkName(key, of: "a pool") {
            // A pool with an invalid size still exists, as large as possible, so that its uses are not reported as
            // well.
            let size = count(MappingReader.Entry(key: key, value: value))
            pools.append(Pool(name: key.text, size: size ?? .max, range: key.range))
        }
        return pools
    }

    /// `pool`: names with a number of units each, or a name or a list of names for one unit of each.
    mutating func poolRequests(_ entry: MappingReader.Entry?) -> [PoolRequest] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            let names = items(entry, expected: "a pool's name, a list of names, or `{ name: units }`", mayBeAlone: true)
            return names.compactMap { node in
                guard checkName(node, of: "a pool") else { return nil }
                return PoolRequest(pool: node.text, units: 1, range: node.range)
            }
        }
        var requests: [PoolRequest] = []
        for (key, value) in entry.value.entries where checkName(key, of: "a pool") {
            guard let units = count(MappingReader.Entry(key: key, value: value)) else { continue }
            requests.append(PoolRequest(pool: key.text, units: units, range: key.range))
        }
        return requests
    }

    /// `mutex`: a name or a list of names.
    private mutating func mutexRequests(_ entry: MappingReader.Entry) -> [MutexRequest] {
        items(entry, expected: "a name or a list of names", mayBeAlone: true).compactMap { node in
            guard checkName(node, of: "a mutex") else { return nil }
            return MutexRequest(name: node.text, range: node.range)
        }
    }
}

extension WorkflowDecoder {
    /// `require`: a list of conditions, each with the message for when it is false, and of commands that have to
    /// succeed; or one of them alone.
    mutating func requirements(_ entry: MappingReader.Entry, in place: KeyPlace) -> [Requirement] {
        let expected = "a list such as `[{ if: env.CI != null, message: only in CI }]`"
        // Unique in the group whose `vars` they are placed among.
        let owner = place == .step || place == .use ? member.map { "\($0.key.text)." } ?? "" : ""
        if entry.value.kind == .mapping { return requirement(entry.value, "\(owner)require[1]").map { [$0] } ?? [] }
        guard entry.value.kind == .sequence else {
            reportType(entry, expected: expected)
            return []
        }
        if entry.value.count == 0 {
            report(
                .emptyList, "`require` names nothing", at: entry.value, severity: .warning, fix: .init("remove the key")
            )
        }
        return entry.value.elements.enumerated().compactMap { index, element in
            guard element.kind == .mapping else {
                reportType(MappingReader.Entry(key: entry.key, value: element), expected: expected)
                return nil
            }
            return requirement(element, "\(owner)require[\(index + 1)]")
        }
    }

    /// `name` is that of the shared value for a command.
    private mutating func requirement(_ node: YAMLNode, _ name: String) -> Requirement? {
        let fields = fields(node, of: .requirement)
        let message = fields.take("message")
        if let run = fields.take("run") {
            if let condition = fields.take("if") {
                report(
                    .conflictingKeys, "an entry of `require` has either `if` or `run`, this one has both",
                    at: condition.key, notes: [.init("`run` is here", at: run.key.range)],
                    fix: .init("write two entries"))
            }
            let command = SharedValue.Command(body: decodeRun(run), purpose: .precondition)
            preconditions.append(SharedValue(name: name, source: .command(command), range: node.range))
            return Requirement(
                condition: .command(value: name, text: Self.text(ofCommand: run.value)),
                message: templateText(message), range: node.range)
        }
        let missing = ["if", "message"].filter { fields.take($0) == nil }
        if !missing.isEmpty {
            report(
                .missingKey, "this entry of `require` has no \(Phrase.all(missing))", at: node,
                fix: .init("write `{ if: CONDITION, message: TEXT }`, or `{ run: COMMAND }`"))
        }
        guard let condition = condition(fields.take("if")), let message = templateText(message) else { return nil }
        return Requirement(condition: .expression(condition), message: message, range: node.range)
    }

    /// The words of a command, or the first line of a script.
    private static func text(ofCommand node: YAMLNode) -> String {
        guard node.kind == .scalar else { return node.elements.map(\.text).joined(separator: " ") }
        return node.text.split(separator: "\n").first.map(String.init) ?? ""
    }
}

// `interactive`: a step that has the terminal in place of pipes.
extension WorkflowDecoder {
    /// Reports keys that cannot apply to a step whose input and output are the terminal.
    mutating func checkInteractive(_ reader: borrowing MappingReader, of step: NodeIndex) {
        guard let settings = nodes[step.row].settings, settings.attributes.isInteractive else { return }
        for (key, reason) in Self.pipeKeys {
            guard let entry = reader.take(key) else { continue }
            report(
                .conflictingKeys, "an interactive step \(reason), so `\(key.spelling)` has no effect", at: entry.key,
                fix: .init("remove `\(key.spelling)`, or `interactive`"))
        }
        for output in settings.outputs {
            guard case .standardOutput = output.source else { continue }
            report(
                .conflictingKeys,
                "an interactive step writes to the terminal, so the output `\(output.name)` cannot be `from: stdout`",
                at: output.range, fix: .init("write it to `$FLOWRUN_OUTPUT`, or remove `interactive`"))
        }
    }

    private static let pipeKeys: [(WorkflowKey, String)] = [
        (.stdin, "reads the terminal"), (.streams, "writes to the terminal"), (.log, "writes to the terminal"),
        (.detach, "ends before others have the terminal"),
    ]
}
