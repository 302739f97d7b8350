internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// The less common keys of a place; nil where none of them is given.
    mutating func decodeSettings(_ reader: inout MappingReader, in place: KeyPlace) -> Settings? {
        let common: KeySet = place == .top ? Self.commonTopKeys : Self.commonKeys
        guard !reader.present.subtracting(common).isEmpty else { return nil }
        let fanOut = decodeFanOut(reader, in: place)
        let isTop = place == .top
        let isStep = place == .step
        return Settings(
            name: isTop ? nil : text(reader.take(.name)),
            description: isTop ? nil : text(reader.take(.description)),
            env: environment(reader.take(.env)),
            dotenv: dotenv(reader.take(.dotenv)),
            shell: shell(reader.take(.shell)),
            workingDirectory: folder(reader.take(.workingDirectory)),
            timeout: timeLimit(reader.take(.timeout)),
            grace: duration(reader.take(.grace), mayBeZero: true),
            killSignal: killSignal(reader.take(.killSignal)),
            continueOnError: bool(reader.take(.continueOnError)) ?? false,
            maxParallel: count(reader.take(.maxParallel)),
            failFast: failFast(reader.take(.failFast)),
            orderRange: sequenceRange(reader.take(.order)),
            fanOut: fanOut,
            condition: condition(reader.take(.if)),
            retry: retry(reader.take(.retry)),
            outputs: isStep ? stepOutputs(reader.take(.outputs)) : groupOutputs(reader.take(.outputs)),
            pools: poolRequests(reader.take(.pool)),
            mutexes: mutexRequests(reader.take(.mutex)),
            standardInput: templateText(reader.take(.stdin)),
            secrets: isStep ? secretUses(reader.take(.secrets)) : [],
            environmentPolicy: environmentPolicy(reader.take(.envPolicy)),
            platforms: platforms(reader.take(.platforms)),
            log: reader.take(.log).flatMap { word($0, of: LogView.allCases.map(\.rawValue)) }.flatMap(LogView.init))
    }

    private static let commonKeys = KeySet([.run, .needs, .steps, .onFailure, .finally])
    private static let commonTopKeys = KeySet([
        .version, .name, .description, .params, .secrets, .defaults, .pools, .steps, .onFailure, .finally,
    ])

    mutating func timeLimit(_ entry: MappingReader.Entry?) -> TimeLimit? {
        guard let entry, let duration = duration(entry) else { return nil }
        return TimeLimit(duration: duration, range: entry.value.range)
    }

    mutating func environmentPolicy(_ entry: MappingReader.Entry?) -> EnvironmentPolicy? {
        entry.flatMap { word($0, of: EnvironmentPolicy.allCases.map(\.rawValue)) }.flatMap(EnvironmentPolicy.init)
    }

    /// Words of other tools for platforms.
    private static let foreignPlatforms = [
        "amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64", "aarch64": "arm64", "darwin": "macos", "mac": "macos",
        "osx": "macos", "win": "windows",
    ]

    private mutating func platforms(_ entry: MappingReader.Entry?) -> [Platform] {
        guard let entry else { return [] }
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

    private mutating func failFast(_ entry: MappingReader.Entry?) -> FailFast? {
        guard let entry else { return nil }
        if entry.value.isText("drain") { return .drain }
        return bool(entry, expected: "`true`, `false` or `drain`").map { $0 ? .cancel : .off }
    }

    private mutating func sequenceRange(_ entry: MappingReader.Entry?) -> SourceRange? {
        guard let entry, let order = word(entry, of: ["parallel", "sequence"]) else { return nil }
        return order == "sequence" ? entry.key.range.through(entry.value.range) : nil
    }
}

extension SourceRange {
    /// From the start of this range to the end of a later one.
    fileprivate func through(_ other: SourceRange) -> SourceRange { SourceRange(start: start, end: other.end) }
}
