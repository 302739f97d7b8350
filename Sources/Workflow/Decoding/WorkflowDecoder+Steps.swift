internal import Syntax

extension WorkflowDecoder {
    /// Reads the value of `steps` into rows after their group's, and ends the group's subtree after them.
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
            // A group without members succeeds at once, like a fan-out over nothing. A whole file without a step has
            // probably lost it, and a hook without one was meant to do something.
            let isHarmless = group != .root && nodes[group.row].hook == nil
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) contains no step", at: value,
                severity: isHarmless ? .warning : .error, fix: .init("add a step: an id, and `run` below it"))
            return
        }
        if group == .root { reserveNodes(nodes.count + value.count) }
        // Expressions are looked for in all nodes once more at the end. Files that others use are read several times.
        let mayRelease = group == .root && !document.hasExpressions
        var firstKept: YAMLNode?
        for (key, value) in value.entries {
            if mayRelease { firstKept = firstKept?.released(upTo: key) ?? key }
            decodeMember(key, value, of: group)
        }
        if namingKeys.contains(.aliases) { checkAliases(in: group) }
    }

    /// Only at the top: reserving again for each group would copy all rows each time.
    private mutating func reserveNodes(_ count: Int) {
        nodes.reserveCapacity(count)
        // Most steps have one or two needs. Unused capacity costs nothing, but a small file may have none at all.
        if count > 64 { needs.reserveCapacity(2 * count) }
    }

    private mutating func decodeMember(_ key: YAMLNode, _ value: YAMLNode, of parent: NodeIndex) {
        let index = NodeIndex(nodes.count)
        let outer = member
        member = MappingReader.Entry(key: key, value: value)
        defer { member = outer }
        checkID(key)
        // A step without a readable body keeps its row, so that its dependents still find it.
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
        // The names of a step's own keys, and of those of a group with `uses`, mean what they mean around it.
        if !preconditions.isEmpty { nodes[parent.row].settings = addingPreconditions(to: nodes[parent.row].settings) }
        if place == .use {
            decodeUse(reader, of: index)
        } else if let steps = reader.take(.steps), place == .group {
            nodes[index.row].body = .group
            decodeMembers(steps, of: index)
            decodeHooks(reader, of: index)
        } else if let run = reader.take(.run) {
            nodes[index.row].body = decodeRun(run)
            checkInteractive(reader, of: index)
            if document.makeCalls != nil { noteMake(run, in: reader) }
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

    /// Reports keys of a step with `needs` and without `run`: it has no process that they could apply to.
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

    private static let milestoneKeys: KeySet = [
        .name, .description, .aliases, .section, .manual, .internal, .needs, .if,
    ]

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
            // A value in quotes, a list or a block is written as it is.
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
    /// True if the finding is about a key that may have been meant as the missing one.
    fileprivate var concernsKey: Bool { code == .unknownKey || code == .foreignKey || code == .notSupportedYet }
}

// `on-failure` and `finally`: groups of their own after all other members of their group.
extension WorkflowDecoder {
    mutating func decodeHooks(_ reader: borrowing MappingReader, of group: NodeIndex) {
        decodeHook(reader, .onFailure, key: .onFailure, of: group)
        decodeHook(reader, .finally, key: .finally, of: group)
    }

    private mutating func decodeHook(
        _ reader: borrowing MappingReader, _ hook: WorkflowNode.Hook, key: WorkflowKey, of group: NodeIndex
    ) {
        guard let entry = reader.take(key) else { return }
        reportNamesake(of: entry, named: key.spelling, in: group)
        guard let members = hookMembers(entry, named: key.spelling) else { return }
        let index = NodeIndex(nodes.count)
        nodes.append(
            WorkflowNode(
                id: key.spelling, range: entry.key.range, parent: group, subtreeEnd: UInt32(index.row + 1),
                body: .group,
                hook: hook))
        decodeMembers(members, of: index)
        nodes[group.row].subtreeEnd = UInt32(nodes.count)
    }

    /// Reports a member with the id of a hook: the id of a hook in the log is its key.
    private mutating func reportNamesake(of hook: MappingReader.Entry, named name: String, in group: NodeIndex) {
        // Their nodes in the file may be gone.
        var row = group.row + 1
        while row < nodes.count {
            let member = nodes[row]
            row = Int(member.subtreeEnd)
            guard member.hook == nil, member.id == name else { continue }
            report(
                .invalidID, "the id `\(name)` belongs to the steps that run after this group", at: member.range,
                notes: [.init("they are declared here", at: hook.key.range)], fix: .init("choose another id"))
        }
    }

    /// Returns the mapping of ids to steps; reports a single step or a group in its place.
    private mutating func hookMembers(_ entry: MappingReader.Entry, named name: String) -> MappingReader.Entry? {
        for (key, value) in entry.value.entries {
            if key.isText("run"), value.kind == .scalar || value.kind == .sequence {
                report(
                    .wrongType, "`\(name)` takes a mapping of ids to steps, found a step", at: key,
                    fix: .init("write the step below an id of its own, such as `clean-up`"))
                refuse(entry.value)
                return nil
            }
            if key.isText("steps"), value.kind == .mapping, !isMember(value) {
                report(
                    .wrongType, "`\(name)` takes a mapping of ids to steps, found a group", at: key,
                    fix: .init("remove `steps:` and write the ids directly below `\(name)`"))
                return MappingReader.Entry(key: entry.key, value: value)
            }
        }
        return entry
    }

    /// `undoes`: ids of the body that a hook belongs to; nil if the key is absent.
    mutating func undoneSteps(_ entry: MappingReader.Entry?) -> [StepReference]? {
        guard let entry else { return nil }
        if entry.value.kind == .sequence, entry.value.count == 0 { return [] }
        return items(entry, expected: "a list of ids, `[]` for none", mayBeAlone: false).map {
            StepReference(name: $0.text, range: $0.range)
        }
    }

    /// Reports `undoes` outside of a hook: only steps and groups in a hook undo anything.
    mutating func checkUndoes(_ reader: borrowing MappingReader, in place: KeyPlace, of parent: NodeIndex) {
        guard let entry = reader.take(.undoes) else { return }
        var group = parent
        while group != .root {
            if nodes[group.row].hook != nil { return }
            group = nodes[group.row].parent
        }
        report(
            .unknownKey,
            "`undoes` is a key of steps and groups below `on-failure` or `finally`, and this is \(place.name)",
            at: entry.key, fix: .init("remove it, or move it to the hook that undoes something"))
    }

    /// True if a mapping is a step or a group, not a mapping of ids to them.
    private func isMember(_ value: YAMLNode) -> Bool {
        value.count == 0
            || value.entries.contains { key, value in
                key.isText("run") && value.kind != .mapping || key.isText("steps") && value.kind == .mapping
            }
    }
}

extension WorkflowDecoder {
    /// `needs`: a list of names, or a mapping of names to the required outcome.
    mutating func decodeNeeds(_ entry: MappingReader.Entry) -> Range<UInt32> {
        let start = UInt32(needs.count)
        appendNeeds(entry)
        return start..<UInt32(needs.count)
    }

    private mutating func appendNeeds(_ entry: MappingReader.Entry) {
        let value = entry.value
        switch value.kind {
        case .invalid: return
        case .sequence:
            for element in value.elements where isName(element, in: entry) {
                needs.append(Need(name: element.text, range: alias(to: element.range)?.range ?? element.range))
            }
        case .mapping:
            for (key, value) in value.entries where isName(key, in: entry) {
                let kind = needKind(MappingReader.Entry(key: key, value: value))
                let range = alias(to: key.range)?.range ?? key.range
                needs.append(Need(name: key.text, kind: kind ?? .done, range: range))
            }
        case .scalar:
            let expected = "a list of ids, or a mapping of ids to `success`, `failure` or `done`"
            guard value.type == .string, value.isPlain, !value.text.isEmpty else {
                return reportType(entry, expected: expected)
            }
            let names = value.text.split { $0 == " " || $0 == "," }.map(String.init)
            reportType(entry, expected: expected, fix: replacing(value, by: "[\(names.joined(separator: ", "))]"))
            for name in names { needs.append(Need(name: name, range: value.range)) }
        }
        if value.isEmptyCollection {
            report(
                .emptyList, "\(Phrase.quoted(entry.key.text)) is empty", at: value, severity: .warning,
                fix: .init("remove the key: a step without it starts at once"))
        }
    }

    /// The id in `{ task: id }`, which is the form of other tools.
    private static func foreignName(_ node: YAMLNode) -> String? {
        guard node.kind == .mapping, node.count == 1, let (key, value) = node.entries.first(where: { _ in true }),
            ["task", "job", "step"].contains(key.text), value.type == .string, StepName.isValid(value.bytes)
        else { return nil }
        return value.text
    }

    private mutating func needKind(_ entry: MappingReader.Entry) -> Need.Kind? {
        let kinds: [Need.Kind] = [.success, .failure, .done]
        let word = word(
            entry, of: kinds.map(\.word),
            orFor: [
                "always": "done", "completed": "done", "complete": "done", "any": "done", "finished": "done",
                "ended": "done", "end": "done", "ok": "success", "succeeded": "success", "passed": "success",
                "pass": "success", "failed": "failure", "fail": "failure", "error": "failure",
            ])
        return kinds.first { $0.word == word }
    }

    /// True if an entry can be a name at all; the planner finds the step that it names.
    private mutating func isName(_ node: YAMLNode, in entry: MappingReader.Entry) -> Bool {
        guard node.kind == .scalar else {
            if node.kind != .invalid {
                report(
                    .wrongType, "an entry of \(Phrase.quoted(entry.key.text)) is an id, found \(found(node))", at: node,
                    fix: Self.foreignName(node).map { replacing(node, by: $0) }
                        ?? .init("write `needs: { id: done }` to say how it must end"))
            }
            return false
        }
        switch node.type {
        case .bool, .null:
            let isAbsent = node.range.start == node.range.end
            let fix =
                isAbsent || node.isAlias ? nil : replacing(node, by: "\"\(node.text)\"", "quote it if it is an id")
            report(
                .wrongType, "an entry of \(Phrase.quoted(entry.key.text)) is an id, found \(found(node))",
                at: isAbsent ? entry.value : node, fix: fix)
            return false
        default:
            guard node.byteCount == 0 else { return true }
            report(
                .invalidID, "an entry of \(Phrase.quoted(entry.key.text)) is empty", at: node, fix: .init("write an id")
            )
            return false
        }
    }
}
