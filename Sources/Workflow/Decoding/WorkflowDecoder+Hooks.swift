internal import Syntax

// `on-failure` and `finally`: groups of their own behind all members of the group around.
extension WorkflowDecoder {
    mutating func decodeHooks(_ reader: borrowing MappingReader, of group: NodeIndex) {
        decodeHook(reader, .onFailure, key: .onFailure, of: group)
        decodeHook(reader, .finally, key: .finally, of: group)
    }

    private mutating func decodeHook(
        _ reader: borrowing MappingReader, _ hook: WorkflowNode.Hook, key: WorkflowKey, of group: NodeIndex
    ) {
        guard let entry = reader.take(key) else { return }
        reportNamesake(of: entry, named: key.spelling, in: reader)
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

    /// The id of a hook in the log is its key, which no member can have then.
    private mutating func reportNamesake(
        of hook: MappingReader.Entry, named name: String, in reader: borrowing MappingReader
    ) {
        guard let steps = reader.take(.steps) else { return }
        for (key, _) in steps.value.entries where key.bytes.elementsEqual(name.utf8) {
            report(
                .invalidID, "the id `\(name)` belongs to the steps that run after this group", at: key,
                notes: [.init("they are declared here", at: hook.key.range)], fix: .init("choose another id"))
        }
    }

    /// The mapping of ids to steps; says so where it is a single step or a group instead.
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

    /// `undoes`: ids of the body that a hook belongs to; nil if it is not there.
    mutating func undoneSteps(_ entry: MappingReader.Entry?) -> [StepReference]? {
        guard let entry else { return nil }
        if entry.value.kind == .sequence, entry.value.count == 0 { return [] }
        return items(entry, expected: "a list of ids, `[]` for none", mayBeAlone: false).map {
            StepReference(name: $0.text, range: $0.range)
        }
    }

    /// Only steps and groups in a hook undo anything.
    mutating func checkUndoes(_ reader: borrowing MappingReader, in place: KeyPlace, of parent: NodeIndex) {
        guard let entry = reader.take(.undoes) else { return }
        var group = parent
        while group != .root {
            if nodes[group.row].hook != nil { return }
            group = nodes[group.row].parent
        }
        report(
            .unknownKey,
            "`undoes` is a key of what stands below `on-failure` or `finally`, and this is \(place.name)",
            at: entry.key, fix: .init("remove it, or move it to the hook that undoes something"))
    }

    /// Whether a mapping is a step or a group rather than a mapping of ids to them.
    private func isMember(_ value: YAMLNode) -> Bool {
        value.count == 0
            || value.entries.contains { key, value in
                key.isText("run") && value.kind != .mapping || key.isText("steps") && value.kind == .mapping
            }
    }
}
