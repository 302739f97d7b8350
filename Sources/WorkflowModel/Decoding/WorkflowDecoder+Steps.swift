internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// Reads the value of `steps` into rows that follow their group's, and ends the group's subtree behind them.
    mutating func decodeMembers(_ entry: MappingReader.Entry, of group: NodeIndex) {
        defer { nodes[group.row].subtreeEnd = UInt32(nodes.count) }
        let value = entry.value
        guard value.kind == .mapping else {
            reportType(
                entry, expected: "a mapping of ids to steps",
                fix: value.kind == .sequence ? .init("write each step below its id: `build: { run: make }`") : nil)
            return
        }
        guard value.count > 0 else {
            // A group without members succeeds at once, as a fan-out over nothing does; a whole file without a step is
            // most likely a lost one, and a hook without one was meant to do something.
            let isHarmless = group != .root && nodes[group.row].hook == nil
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) holds no step", at: value,
                severity: isHarmless ? .warning : .error, fix: .init("add a step: an id, and `run` below it"))
            return
        }
        if group == .root { reserveNodes(nodes.count + value.count) }
        for (key, value) in value.entries { decodeMember(key, value, of: group) }
    }

    /// Only at the top: asking again for each group would copy all rows each time.
    private mutating func reserveNodes(_ count: Int) {
        Self.reserve(count, in: &nodes)
        // Most steps have one or two; what is not touched costs nothing.
        Self.reserve(2 * count, in: &needs)
    }

    private static func reserve<Element>(_ count: Int, in array: inout [Element]) {
        array.reserveCapacity(count)
        array.withUnsafeMutableBufferPointer { buffer in
            let size = count * MemoryLayout<Element>.stride
            LargeMemory.prepare(UnsafeRawBufferPointer(start: buffer.baseAddress, count: size))
        }
    }

    private mutating func decodeMember(_ key: YAMLNode, _ value: YAMLNode, of parent: NodeIndex) {
        let index = NodeIndex(nodes.count)
        checkID(key)
        // A step without a readable body keeps its row, so that what needs it still finds it.
        nodes.append(
            WorkflowNode(
                id: key.text, range: key.range, parent: parent, subtreeEnd: UInt32(index.row + 1), body: .script("")))
        guard value.kind == .mapping else { return reportNoMember(key, value) }
        var reader = MappingReader(value)
        let place: KeyPlace = reader.has(.steps) || isForeignGroup(reader) ? .group : .step
        let found = findings.count
        reportStrayKeys(&reader, in: place)
        if let needs = reader.take(.needs) { nodes[index.row].needs = decodeNeeds(needs) }
        nodes[index.row].settings = decodeSettings(&reader, in: place)
        if let steps = reader.take(.steps), place == .group {
            nodes[index.row].body = .group
            decodeMembers(steps, of: index)
            decodeHooks(reader, of: index)
        } else if let run = reader.take(.run) {
            nodes[index.row].body = decodeRun(run)
            if let shell = reader.take(.shell), case .arguments = nodes[index.row].body {
                report(
                    .conflictingKeys, "`shell` has no effect, a `run` list is run without one", at: shell.key,
                    severity: .warning, fix: .init("remove `shell`, or write the command as a text"))
            }
        } else if !findings.contains(since: found, where: \.concernsKey) {
            report(
                .missingKey, "\(Phrase.quoted(key.text)) has neither `run` nor `steps`", at: key,
                fix: .init("add `run:` with a command, or `steps:` to make it a group"))
        }
    }

    private mutating func reportNoMember(_ key: YAMLNode, _ value: YAMLNode) {
        guard value.kind != .invalid else { return }
        if value.isNull {
            report(
                .missingKey, "\(Phrase.quoted(key.text)) has neither `run` nor `steps`", at: key,
                fix: .init("add `run:` with a command, or `steps:` to make it a group"))
        } else {
            let command = value.isPlain && !value.text.contains("\n") ? value.text : nil
            reportType(
                MappingReader.Entry(key: key, value: value), expected: "a mapping with `run` or `steps`",
                fix: command.map { replacing(value, by: "{ run: \(Self.quoted($0)) }") })
        }
    }

    /// A text as a double-quoted YAML scalar.
    static func quoted(_ text: String) -> String {
        let escaped = text.reduce(into: "") { escaped, letter in
            escaped += letter == "\"" || letter == "\\" ? "\\\(letter)" : String(letter)
        }
        return "\"\(escaped)\""
    }

    /// `jobs:` or `tasks:` inside a member makes it a group all the same.
    private func isForeignGroup(_ reader: MappingReader) -> Bool {
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
        guard key.isPlain, Self.firstsOfLookAlikes.contains(key.bytes[0]) else { return }
        let text = key.text
        guard key.type == .bool || key.type == .null || Self.lookAlikes[text.lowercased()] != nil else { return }
        report(
            .lookAlike, "other YAML tools read the id `\(text)` as something else than a text", at: key,
            severity: .warning, fix: replacing(key, by: "\"\(text)\"", "quote it, or choose another id"))
    }

    private static let firstsOfLookAlikes = Set("tTfFnNyYoO".utf8)

    private mutating func reportID(_ key: YAMLNode) {
        let text = key.text
        let name = Phrase.quoted(text)
        let problem =
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
            .invalidID, problem, at: key,
            fix: suggestion.map { .init("write `\($0)`, here and wherever it is needed") })
    }
}

extension Diagnostic {
    /// Whether the finding is about a key that may have been meant as the one that is missing.
    fileprivate var concernsKey: Bool { code == .unknownKey || code == .foreignKey || code == .notSupportedYet }
}
