internal import Syntax

// The value of a foreign key, which is not always one that flowrun's key takes.
extension WorkflowDecoder {
    /// The first finding about a foreign entry's value as that of the key it means. It is not reported; nil if there is
    /// none, or if the meaning is no key of the place.
    mutating func objection(
        to entry: MappingReader.Entry, _ meaning: ForeignWords.Meaning, in mapping: YAMLNode, _ place: KeyPlace
    ) -> Diagnostic? {
        guard case .key(let key) = meaning, place.keys.contains(key), !WorkflowKey.notSupportedYet.contains(key),
            !findings.isFull
        else {
            return nil
        }
        let reported = findings
        defer { findings = reported }
        findings = FindingList()
        read(entry, as: key, in: mapping, place)
        guard let found = findings.sorted.first else { return nil }
        let (foreign, own) = (Phrase.quoted(entry.key.text), Phrase.quoted(key.spelling))
        let words = found.message.split(separator: " ", omittingEmptySubsequences: false)
        return found.with(message: words.map { $0 == foreign ? own[...] : $0 }.joined(separator: " "))
    }

    private mutating func read(
        _ entry: MappingReader.Entry, as key: WorkflowKey, in mapping: YAMLNode, _ place: KeyPlace
    ) {
        switch key {
        case .needs:
            let count = needs.count
            _ = decodeNeeds(entry)
            needs.removeLast(needs.count - count)
        case .run: _ = decodeRun(entry)
        case .steps, .finally, .onFailure:
            if entry.value.kind != .mapping { reportType(entry, expected: Self.formOfSteps) }
        case .params: _ = parameters(entry)
        case .secrets where place == .top: _ = secrets(entry)
        case .pools: _ = pools(entry)
        case .default: _ = defaultSteps(entry)
        case .description: _ = text(entry)
        case .maxParallel:
            _ = count(entry)
            let others = MappingReader(mapping)
            if !others.has(.matrix), !others.has(.forEach) {
                reportLonelyKeys(MappingReader(entry, as: key, in: mapping), in: place)
            }
        default:
            _ = decodeSettings(MappingReader(entry, as: key, in: mapping), in: place)
        }
    }

    static let formOfSteps = "a mapping of ids to steps"

    /// The fix for a foreign key, and for a value that flowrun's key does not take.
    func renaming(_ entry: MappingReader.Entry, to key: WorkflowKey, _ objection: Diagnostic?) -> Diagnostic.Fix {
        let rename = Diagnostic.Fix.Edit(range: entry.key.range, replacement: key.spelling)
        guard let objection else { return .init("write `\(key.spelling)`", edits: [rename]) }
        guard let fix = objection.fix else { return .init("write `\(key.spelling)` with a value that it takes") }
        guard let edit = fix.edits.first else { return .init(fix.description) }
        let isWhole = fix.edits.count == 1 && edit.range == entry.value.range
        return .init(
            isWhole
                ? "write `\(key.spelling): \(edit.replacement)`"
                : "write `\(key.spelling)`, and in its value \(fix.description)",
            edits: [rename] + fix.edits)
    }
}
