internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// The less common keys of a place; nil where none of them is given.
    mutating func decodeSettings(_ reader: inout MappingReader, in place: KeyPlace) -> Settings? {
        let common: KeySet = place == .top ? Self.commonTopKeys : Self.commonKeys
        guard !reader.present.subtracting(common).isEmpty else { return nil }
        let fanOut = decodeFanOut(reader, in: place)
        let isTop = place == .top
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
            fanOut: fanOut)
    }

    private static let commonKeys = KeySet([.run, .needs, .steps])
    private static let commonTopKeys = KeySet([.version, .name, .description, .defaults, .steps])

    private mutating func timeLimit(_ entry: MappingReader.Entry?) -> TimeLimit? {
        guard let entry, let duration = duration(entry) else { return nil }
        return TimeLimit(duration: duration, range: entry.value.range)
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
