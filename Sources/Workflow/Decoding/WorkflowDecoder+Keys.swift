internal import Syntax

// Keys in a place where they do not belong: misspelt, foreign, of another place, or not built yet.
extension WorkflowDecoder {
    mutating func reportStrayKeys(_ reader: inout MappingReader, in place: KeyPlace) {
        for (key, entry) in reader.entries(outside: place.keys) {
            if WorkflowKey.notSupportedYet.contains(key) {
                reportNotSupported(key, entry)
            } else if key == .run, place == .group, let steps = reader.take(.steps) {
                report(
                    .conflictingKeys, "a node has either `run` or `steps`, this one has both", at: entry.key,
                    notes: [.init("`steps` is here", at: steps.key.range)],
                    fix: .init("move the command into a step of its own below `steps`"))
            } else {
                reportMisplaced(key, entry, in: place)
            }
        }
        reader.keepOnly(place.keys)
        for entry in reader.unknownKeys {
            let word = entry.key.text
            if Self.isUnread(word) {
                if place == .top { leaveUnread(entry) } else { reportUnread(entry, in: place) }
            } else if let meaning = ForeignWords.meaning(of: word, entry.value, in: place) {
                let objection = objection(to: entry, meaning, in: reader.node, place)
                reportForeign(entry, meaning, objection, in: place)
                if objection == nil { adopt(entry, meaning, into: &reader, in: place) } else { refuse(entry.value) }
            } else {
                let meant = reportUnknown(entry, in: place)
                if let meant { reader.adopt(entry, as: meant) }
            }
        }
    }

    /// True for a key that holds anchors and is not read further.
    private static func isUnread(_ word: String) -> Bool { word.utf8.count > 2 && word.utf8.starts(with: "x-".utf8) }

    /// Leaves the value alone, except for the parts that aliases elsewhere stand for.
    private mutating func leaveUnread(_ entry: MappingReader.Entry) {
        guard !entry.value.isAlias else { return }
        document.unreadRows.append(entry.value.placeRow..<entry.value.contentEnd)
    }

    private mutating func reportUnread(_ entry: MappingReader.Entry, in place: KeyPlace) {
        refuse(entry.value)
        report(
            .unknownKey, "unknown key \(Phrase.quoted(entry.key.text)) in \(place.name)", at: entry.key,
            notes: [.init("keys with `x-`, which hold anchors, are accepted at the top of a file")],
            fix: .init("move it to the top of the file, and refer to its anchor from here"))
    }

    /// Marks a value in which nothing more is reported.
    mutating func refuse(_ value: YAMLNode) {
        document.refusedRows.append(value.placeRow..<(value.isAlias ? value.placeRow + 1 : value.contentEnd))
    }

    private mutating func reportNotSupported(_ key: WorkflowKey, _ entry: MappingReader.Entry) {
        refuse(entry.value)
        report(
            .notSupportedYet, "`\(key.spelling)` is not supported yet", at: entry.key,
            fix: .init("remove it, or wait for a version of flowrun that knows it"))
    }

    private mutating func reportMisplaced(_ key: WorkflowKey, _ entry: MappingReader.Entry, in place: KeyPlace) {
        refuse(entry.value)
        report(
            .unknownKey, "`\(key.spelling)` is not a key of \(place.name)", at: entry.key,
            notes: [.init("it is accepted \(homes(of: key))")], fix: advice(on: key, in: place))
    }

    private func homes(of key: WorkflowKey) -> String {
        KeyPlace.allCases.filter { $0.keys.contains(key) }
            .map { $0 == .top ? "at the top of the file" : "in \($0.name)" }.joined(separator: ", ")
    }

    /// Returns advice on a key in the wrong place.
    private func advice(on key: WorkflowKey, in place: KeyPlace) -> Diagnostic.Fix? {
        switch (key, place) {
        case (.onFailure, .step): .init("give another step `needs: { id: failure }`, or put this one into a group")
        case (.finally, .step): .init("give another step `needs: { id: done }`, or put this one into a group")
        case (.pool, .group): .init("ask for the pool in each step: a group runs nothing by itself")
        case (.pool, .top): .init("write `pools: { name: size }` here, and `pool` in the steps that take from it")
        case (.pools, .step): .init("write `pool: { name: units }`")
        case (.secrets, .group), (.secrets, .use), (.secrets, .template):
            .init("list the secrets in each step that may see them")
        case (.uses, .top): .init("write a group under `steps`: `ID: { uses: FILE }`")
        case (.outputs, .use): .init("declare them in what is used: its `outputs` are those of the group")
        case (.with, _): .init("add `uses:` with a file or a template, or remove `with`")
        case (.params, .group): .init("write the body under `templates`, with its `params`")
        default: nil
        }
    }

    private mutating func reportForeign(
        _ entry: MappingReader.Entry, _ meaning: ForeignWords.Meaning, _ objection: Diagnostic?, in place: KeyPlace
    ) {
        let word = Phrase.quoted(entry.key.text)
        switch meaning {
        case .advice(let advice):
            report(.foreignKey, "flowrun has no key \(word)", at: entry.key, fix: .init(advice))
        case .wrapper:
            let keys = entry.value.entries.map(\.key.text)
            report(
                .foreignKey, "\(word) is not a key of \(place.name); what is below it belongs here itself",
                at: entry.key,
                fix: .init(
                    "write \(keys.isEmpty ? "`matrix`" : Phrase.all(keys)) in place of \(word)",
                    edits: unwrapping(entry)))
        case .key(let key) where WorkflowKey.notSupportedYet.contains(key):
            report(
                .foreignKey,
                """
                \(word) is not a key of \(place.name); flowrun's word is `\(key.spelling)`, which is not supported \
                yet
                """,
                at: entry.key,
                fix: .init("remove it, or wait for a version of flowrun that knows it"))
        case .key(.uses) where place == .step || place == .group:
            report(
                .foreignKey, "\(word) is not a key of \(place.name); flowrun's word is `uses`", at: entry.key,
                fix: replacing(entry.key, by: "uses"))
        case .key(let key) where !place.keys.contains(key), .setting(let key, _) where !place.keys.contains(key):
            report(
                .foreignKey,
                "\(word) is not a key of \(place.name), and neither is flowrun's word for it, `\(key.spelling)`",
                at: entry.key, notes: [.init("it is accepted \(homes(of: key))")], fix: advice(on: key, in: place))
        case .retries:
            let retries = entry.value.type == .int ? Int(entry.value.text) : nil
            let retry = retries.flatMap { (1..<Self.attemptLimit).contains($0) ? "{ attempts: \($0 + 1) }" : nil }
            var edits = [Diagnostic.Fix.Edit(range: entry.key.range, replacement: "retry")]
            if let retry { edits.append(edit(entry.value, to: retry)) }
            report(
                .foreignKey,
                "\(word) is not a key of \(place.name); flowrun's word is `retry`, which counts all attempts",
                at: entry.key,
                fix: .init("write `retry: \(retry ?? "{ attempts: 3 }")`", edits: retry == nil ? [] : edits))
        case .key(let key):
            report(
                .foreignKey, "\(word) is not a key of \(place.name); flowrun's word is `\(key.spelling)`",
                at: entry.key, notes: objection.map { [.init($0.message, at: $0.range)] } ?? [],
                fix: renaming(entry, to: key, objection))
        case .setting(let key, let value):
            let edits = [
                Diagnostic.Fix.Edit(range: entry.key.range, replacement: key.spelling), edit(entry.value, to: value),
            ]
            report(
                .foreignKey, "\(word) is not a key of \(place.name); flowrun's word is `\(key.spelling)`",
                at: entry.key,
                fix: .init("write `\(key.spelling): \(value)`", edits: entry.value.kind == .scalar ? edits : []))
        case .duration(let key, let unit):
            let duration =
                entry.value.kind == .scalar
                ? DurationText.suggestion(for: entry.value.text, bareUnit: unit) : nil
            var edits = [Diagnostic.Fix.Edit(range: entry.key.range, replacement: key.spelling)]
            if let duration { edits.append(edit(entry.value, to: duration)) }
            report(
                .foreignKey,
                "\(word) is not a key of \(place.name); flowrun's word is `\(key.spelling)`, with a unit",
                at: entry.key,
                fix: .init("write `\(key.spelling): \(duration ?? "10m")`", edits: duration == nil ? [] : edits))
        }
    }

    /// Replaces a mapping and its key by the only entry of the mapping.
    private func unwrapping(_ entry: MappingReader.Entry) -> [Diagnostic.Fix.Edit] {
        let inner = entry.value.entries.map { $0 }
        guard inner.count == 1, !entry.value.isAlias else { return [] }
        let start = SourceRange(start: entry.key.range.start, end: inner[0].key.range.start)
        guard isFlow(entry.value) else { return [.init(range: start, replacement: "")] }
        let end = SourceRange(start: inner[0].value.range.end, end: entry.value.range.end)
        return [.init(range: start, replacement: ""), .init(range: end, replacement: "")]
    }

    /// Reads a foreign entry with a suitable value under its flowrun name.
    private mutating func adopt(
        _ entry: MappingReader.Entry, _ meaning: ForeignWords.Meaning, into reader: inout MappingReader,
        in place: KeyPlace
    ) {
        if case .wrapper = meaning {
            for (key, value) in entry.value.entries {
                guard let known = WorkflowKey.named(key.bytes), place.keys.contains(known) else {
                    refuse(value)
                    continue
                }
                reader.adopt(MappingReader.Entry(key: key, value: value), as: known)
            }
            return
        }
        guard case .key(let key) = meaning, place.keys.contains(key), key != .uses else {
            return refuse(entry.value)
        }
        reader.adopt(entry, as: key)
    }

    /// Reports an unknown key and returns the key it probably means.
    private mutating func reportUnknown(_ entry: MappingReader.Entry, in place: KeyPlace) -> WorkflowKey? {
        let word = entry.key.text
        if reportMissingBlank(
            entry, in: place.name, isWord: { WorkflowKey.named($0).map(place.keys.contains) == true })
        {
            return nil
        }
        let meant = suggestedKey(for: word, in: place)
        if let meant {
            report(
                .unknownKey, "unknown key \(Phrase.quoted(word)) in \(place.name)", at: entry.key,
                fix: replacing(entry.key, by: meant.spelling, "did you mean `\(meant.spelling)`?"))
            return meant
        }
        reportMeaningless(entry, in: place)
        return nil
    }

    private mutating func reportMeaningless(_ entry: MappingReader.Entry, in place: KeyPlace) {
        refuse(entry.value)
        report(
            .unknownKey, "unknown key \(Phrase.quoted(entry.key.text)) in \(place.name)", at: entry.key,
            notes: [.init("the keys of \(place.name) are \(place.keys.map(\.spelling).joined(separator: ", "))")],
            fix: hasNoColon(entry) ? .init("quote the value before it if the `,` belongs to that") : nil)
    }

    /// Reports `{ run:x }`, where the colon is a part of the key. Returns false if the key is anything else.
    mutating func reportMissingBlank(
        _ entry: MappingReader.Entry, in place: String, isWord: (String) -> Bool
    ) -> Bool {
        let parts = sourceText(entry.key).split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2, let first = parts[1].utf8.first, hasNoColon(entry), entry.key.isPlain, isWord(parts[0])
        else { return false }
        refuse(entry.value)
        // These have another meaning at the start of a value, or none.
        let value = "|>@`%*&!#".utf8.contains(first) ? Self.quoted(parts[1]) : parts[1]
        report(
            .unknownKey, "unknown key \(Phrase.quoted(entry.key.text)) in \(place): a space is missing after the `:`",
            at: entry.key, fix: replacing(entry.key, by: "\(parts[0]): \(value)"))
        return true
    }

    /// True if a key is a word alone, such as `b` in `{ run: echo a, b }`.
    private func hasNoColon(_ entry: MappingReader.Entry) -> Bool {
        let (key, value) = (entry.key.range, entry.value.range)
        guard value.start == value.end, key.end <= value.start else { return false }
        return !file.bytes(in: SourceRange(start: key.end, end: value.start)).contains(UInt8(ascii: ":"))
    }

    private mutating func suggestedKey(for word: String, in place: KeyPlace) -> WorkflowKey? {
        guard !suggestions.isSpent, word.utf8.count < 64 else { return nil }
        // `maxParallel` and `max_parallel` are `max-parallel`.
        let kebab = word.reduce(into: "") { kebab, letter in
            if letter.isUppercase, !kebab.isEmpty, kebab.last != "-" { kebab += "-" }
            kebab += letter == "_" || letter == " " ? "-" : letter.lowercased()
        }
        let plain = kebab.filter { $0 != "-" }
        let keys = place.keys
        if let same = keys.first(where: { $0.spelling.filter { $0 != "-" } == plain }) { return same }
        return suggestions.nearest(to: word, among: keys.map(\.spelling)).flatMap(WorkflowKey.named)
    }
}

extension MappingReader {
    /// The known keys that are present and do not belong to a place, in file order.
    func entries(outside keys: KeySet) -> [(key: WorkflowKey, entry: Entry)] {
        let stray = present.subtracting(keys)
        guard !stray.isEmpty else { return [] }
        return stray.map { ($0, entry($0)) }
            .sorted { $0.entry.key.placeRow < $1.entry.key.placeRow }
    }
}

// Values of foreign keys, which flowrun's key does not always accept.
extension WorkflowDecoder {
    /// Returns the first finding about a foreign entry's value if it is read as that of the key it means. It is not
    /// reported; nil if there is none, or if the meaning is no key of the place.
    mutating func objection(
        to entry: MappingReader.Entry, _ meaning: ForeignWords.Meaning, in mapping: YAMLNode, _ place: KeyPlace
    ) -> Diagnostic? {
        guard case .key(let key) = meaning, place.keys.contains(key), !WorkflowKey.notSupportedYet.contains(key),
            !findings.isFull
        else {
            return nil
        }
        let reported = findings
        defer { (findings, preconditions) = (reported, []) }
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

    /// The fix for a foreign key, and for a value that flowrun's key does not accept.
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

/// The rules for names of steps and groups.
package enum StepName {
    /// The most characters of one.
    package static let lengthLimit = 128

    static func isValid(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.first, bytes.count <= lengthLimit, first != UInt8(ascii: "-") else { return false }
        for byte in bytes where !isLetter(byte) { return false }
        return true
    }

    /// The name with every refused character replaced by `-`.
    static func suggestion(for text: String) -> String? {
        var name = ""
        for scalar in text.unicodeScalars {
            let isKept = scalar.isASCII && isLetter(UInt8(scalar.value)) && !(name.isEmpty && scalar == "-")
            if isKept { name.unicodeScalars.append(scalar) } else if !name.isEmpty, name.last != "-" { name += "-" }
        }
        while name.last == "-" { name.removeLast() }
        return name.isEmpty ? nil : String(name.prefix(lengthLimit))
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

/// The rules for names of environment variables.
package enum VariableName {
    package static func isValid(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return name.utf8.allSatisfy(isLetter)
    }

    /// True for a byte that a name may have, although not necessarily as the first.
    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_")
    }

    /// True for a variable that flowrun sets itself.
    package static func isFlowruns(_ name: String) -> Bool { name.hasPrefix("FLOWRUN_") }

    /// True for a name that has a meaning of its own in expressions, so that no fan-out variable may have it.
    static func isOfExpressions(_ name: String) -> Bool { name == "args" || name == "vars" }

    /// True for a variable that changes how programs or the shell behave, so that no loop may set it.
    package static func isListenedTo(_ name: String) -> Bool {
        listenedTo.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    private static let prefixes = ["FLOWRUN_", "LD_", "BASH_", "GLIBC_"]
    private static let listenedTo: Set<String> = [
        "PATH", "IFS", "ENV", "HOME", "SHELL", "PWD", "OLDPWD", "CDPATH", "SHELLOPTS", "BASHOPTS", "PS4",
        "PROMPT_COMMAND", "TMPDIR", "USER", "LOGNAME", "TERM", "LANG", "MAKEFLAGS", "PYTHONPATH", "PYTHONSTARTUP",
        "PERL5LIB", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS",
    ]
}
