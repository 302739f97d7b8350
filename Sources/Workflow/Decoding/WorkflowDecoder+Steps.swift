internal import Syntax

extension WorkflowDecoder {
    /// Reads the value of `steps` into rows that follow their group's, and ends the group's subtree behind them.
    mutating func decodeMembers(_ entry: MappingReader.Entry, of group: NodeIndex) {
        defer { nodes[group.row].subtreeEnd = UInt32(nodes.count) }
        let value = entry.value
        guard value.kind == .mapping else {
            reportType(
                entry, expected: Self.formOfSteps,
                fix: value.kind == .sequence ? .init("write each step below its id: `build: { run: make }`") : nil)
            return
        }
        guard value.count > 0 else {
            // A group without members succeeds at once, as a fan-out over nothing does. A whole file without a step has
            // probably lost it, and a hook without one was meant to do something.
            let isHarmless = group != .root && nodes[group.row].hook == nil
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) contains no step", at: value,
                severity: isHarmless ? .warning : .error, fix: .init("add a step: an id, and `run` below it"))
            return
        }
        if group == .root { reserveNodes(nodes.count + value.count) }
        for (key, value) in value.entries { decodeMember(key, value, of: group) }
    }

    /// Only at the top: asking again for each group would copy all rows each time.
    private mutating func reserveNodes(_ count: Int) {
        nodes.reserveCapacity(count)
        // Most steps have one or two; what is not touched costs nothing.
        needs.reserveCapacity(2 * count)
    }

    private mutating func decodeMember(_ key: YAMLNode, _ value: YAMLNode, of parent: NodeIndex) {
        let index = NodeIndex(nodes.count)
        let outer = member
        member = MappingReader.Entry(key: key, value: value)
        defer { member = outer }
        checkID(key)
        // A step without a readable body keeps its row, so that what needs it still finds it.
        nodes.append(
            WorkflowNode(
                id: key.text, range: key.range, parent: parent, subtreeEnd: UInt32(index.row + 1), body: .script(.empty)
            ))
        guard value.kind == .mapping else { return reportNoMember(key, value) }
        var reader = MappingReader(value)
        let place: KeyPlace =
            reader.has(.uses) ? .use : reader.has(.steps) || isForeignGroup(reader) ? .group : .step
        let found = findings.count
        reportStrayKeys(&reader, in: place)
        checkUndoes(reader, in: place, of: parent)
        if let needs = reader.take(.needs) { nodes[index.row].needs = decodeNeeds(needs) }
        nodes[index.row].settings = decodeSettings(reader, in: place)
        if place == .use {
            decodeUse(reader, of: index)
        } else if let steps = reader.take(.steps), place == .group {
            nodes[index.row].body = .group
            decodeMembers(steps, of: index)
            decodeHooks(reader, of: index)
        } else if let run = reader.take(.run) {
            nodes[index.row].body = decodeRun(run)
            checkInteractive(reader, of: index)
            if document.mentionsOutputFile { reportUndeclaredOutput(run, in: reader, of: index) }
            if let shell = reader.take(.shell), case .arguments = nodes[index.row].body {
                report(
                    .conflictingKeys, "`shell` has no effect, a `run` list is run without one", at: shell.key,
                    severity: .warning, fix: .init("remove `shell`, or write the command as a text"))
            }
        } else {
            let isWhole = !findings.contains(since: found, where: \.concernsKey)
            if !nodes[index.row].needs.isEmpty {
                nodes[index.row].body = .milestone
                if isWhole { checkMilestone(reader, at: key) }
            } else if isWhole {
                reportBodiless(key)
            }
        }
    }

    private mutating func reportBodiless(_ key: YAMLNode) {
        report(
            .missingKey, "\(Phrase.quoted(key.text)) has neither `run` nor `steps`", at: key,
            fix: .init("add `run:` with a command, or `steps:` to make it a group"))
    }

    /// A step with `needs` and without `run` has no process that its other keys could be about.
    private mutating func checkMilestone(_ reader: borrowing MappingReader, at key: YAMLNode) {
        guard let (stray, entry) = reader.entries(outside: Self.milestoneKeys).first else { return }
        report(
            .missingKey, "\(Phrase.quoted(key.text)) has no `run`, and without one `\(stray.spelling)` has no effect",
            at: entry.key,
            notes: [
                .init(
                    "a step without `run` has only "
                        + Phrase.all(Self.milestoneKeys.map(\.spelling)))
            ],
            fix: .init("add `run:` with a command, or remove `\(stray.spelling)`"))
    }

    private static let milestoneKeys: KeySet = [.name, .description, .manual, .needs, .if]

    private mutating func reportNoMember(_ key: YAMLNode, _ value: YAMLNode) {
        guard value.kind != .invalid else { return }
        if value.isNull {
            reportBodiless(key)
        } else {
            let isOneLine = value.isPlain && !value.source.contains(UInt8(ascii: "\n"))
            reportType(
                MappingReader.Entry(key: key, value: value), expected: "a mapping with `run` or `steps`",
                fix: isOneLine ? replacing(value, by: Self.body(value.text)) : nil)
        }
    }

    /// The likely meaning of a text in place of a step: a command, `key:value` without the blank, or `run` without the
    /// colon.
    private static func body(_ text: String) -> String {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        if parts.count == 2, WorkflowKey.named(parts[0]) != nil, let first = parts[1].first {
            // A value in quotes, a list or a block is written as such.
            if "\"'[{|>".contains(first) { return "\(parts[0]): \(parts[1])" }
            return "{ \(parts[0]): \(quoted(parts[1])) }"
        }
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        return "{ run: \(quoted(words.count == 2 && words[0] == "run" ? words[1] : text)) }"
    }

    /// A text as a double-quoted YAML scalar.
    static func quoted(_ text: String) -> String {
        let escaped = text.reduce(into: "") { escaped, letter in
            escaped += letter == "\"" || letter == "\\" ? "\\\(letter)" : String(letter)
        }
        return "\"\(escaped)\""
    }

    /// `jobs:` or `tasks:` inside a member also makes it a group.
    private func isForeignGroup(_ reader: borrowing MappingReader) -> Bool {
        !reader.has(.run)
            && reader.unknownKeys.contains { entry in
                guard entry.value.kind == .mapping,
                    case .key(.steps) = ForeignWords.meaning(of: entry.key.text, in: .group)
                else { return false }
                return true
            }
    }

    private mutating func checkID(_ key: YAMLNode) {
        guard StepName.isValid(key.bytes) else { return reportID(key) }
        guard key.isPlain, Self.mayStartLookAlike(key.bytes[0]) else { return }
        let text = key.text
        guard key.type == .bool || key.type == .null || Self.lookAlike(text.lowercased()) != nil else { return }
        report(
            .lookAlike, "other YAML tools do not read the id `\(text)` as text", at: key,
            severity: .warning, fix: replacing(key, by: "\"\(text)\"", "quote it, or choose another id"))
    }

    private static func mayStartLookAlike(_ letter: UInt8) -> Bool {
        switch letter | 0x20 {
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "y"), UInt8(ascii: "o"): true
        default: false
        }
    }

    private mutating func reportID(_ key: YAMLNode) {
        let text = key.text
        let name = Phrase.quoted(text)
        let message =
            if text.isEmpty {
                "an id cannot be empty"
            } else if text.unicodeScalars.count > StepName.lengthLimit {
                "the id \(name) is longer than \(StepName.lengthLimit) characters"
            } else if text.hasPrefix("-") {
                "the id \(name) begins with `-`"
            } else if text.contains(".") {
                "the id \(name) has a dot, which separates a group from its member"
            } else {
                "the id \(name) has a character other than letters, digits, `_` and `-`"
            }
        let suggestion = StepName.suggestion(for: text)
        report(
            .invalidID, message, at: key,
            fix: .init(
                suggestion.map { "write `\($0)`, here and wherever it is used" } ?? "write a name such as `build`"))
    }
}

extension Diagnostic {
    /// Whether the finding is about a key that may have been meant as the one that is missing.
    fileprivate var concernsKey: Bool { code == .unknownKey || code == .foreignKey || code == .notSupportedYet }
}
