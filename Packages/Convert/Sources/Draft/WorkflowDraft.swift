/// A workflow file to be written, made from another tool's file or from the content of a folder.
package struct WorkflowDraft: Equatable, Sendable {
    /// The comments at both ends of the file.
    package var head: [String] = []
    package var tail: [String] = []
    package var name: String?
    package var defaultSteps: [String] = []
    package var params: [YAMLEntry] = []
    package var vars: [YAMLEntry] = []
    package var secrets: [YAMLEntry] = []
    package var env: [YAMLEntry] = []
    /// The other keys at the top.
    package var settings: [YAMLEntry] = []
    package var steps: [StepDraft] = []

    package init() {}

    package var unfinishedIDs: [String] { steps.flatMap(\.unfinishedIDs) }
    package var stepCount: Int { steps.reduce(0) { $0 + $1.stepCount } }

    /// The text of the file.
    package var text: String { written.lines.map { $0 + "\n" }.joined() }

    private var written: YAMLWriter {
        var writer = YAMLWriter()
        writer.comment(head)
        writer.write(entries)
        if !tail.isEmpty {
            writer.blankLine()
            writer.comment(tail)
        }
        return writer
    }

    private var entries: [YAMLEntry] {
        var entries = [YAMLEntry("version", .word("1"))]
        if let name { entries.append(YAMLEntry("name", .text(name))) }
        if !defaultSteps.isEmpty { entries.append(YAMLEntry("default", .texts(defaultSteps))) }
        for (key, values) in [("params", params), ("vars", vars), ("secrets", secrets), ("env", env)]
        where !values.isEmpty {
            entries.append(YAMLEntry(key, .mapping(values), isSpaced: true))
        }
        for (index, setting) in settings.enumerated() {
            var setting = setting
            setting.isSpaced = index == 0
            entries.append(setting)
        }
        entries.append(YAMLEntry("steps", .mapping(steps.map(\.entry)), isSpaced: true))
        return entries
    }
}

// Parts that `check` refuses.
extension WorkflowDraft {
    /// Refuses a run whose environment has what dotenv files set as well: here the files win, in other tools the
    /// environment does. Reads the names only.
    mutating func requireFree(of files: [String], in folder: ForeignFolder) {
        var names: [String] = []
        for line in files.compactMap(folder.source).flatMap(\.lines) {
            var text = line.trimmed
            if text.hasPrefix("export ") { text = text.dropFirst(7).trimmed }
            let name = text.cut(at: "=")?.before.trimmed ?? ""
            if !name.isEmpty, name.allSatisfy(\.isVariableCharacter) { names.append(name) }
        }
        require(
            names.unique.map { name in
                (
                    "(env.\(name) ?? '') == ''",
                    "\(name) of the environment won before, here \(files.enumerated) does: unset it"
                )
            })
    }

    /// Adds conditions of the whole run.
    mutating func require(_ conditions: [(condition: String, message: String)]) {
        guard !conditions.isEmpty else { return }
        let entries = conditions.map { condition, message in
            YAMLValue.inline([YAMLEntry("if", .text(condition)), YAMLEntry("message", .text(message))])
        }
        if let index = settings.firstIndex(where: { $0.key == "require" }),
            case .list(let before) = settings[index].value
        {
            settings[index].value = .list(before + entries)
        } else {
            settings.append(YAMLEntry("require", .list(entries)))
        }
    }

    /// Gives up, one by one, the parts that `check` refuses, so that the file can be run. `check` gets the text of
    /// the file and returns the numbers of the lines with an error.
    package mutating func settle(check: (String) -> [Int]) {
        while true {
            let writer = written
            guard let line = check(text).first else { return }
            // The innermost entry comes first.
            guard let place = writer.places.first(where: { $0.lines.contains(line) }), giveUp(place.path) else {
                return
            }
        }
    }

    /// Returns true if there was something to give up.
    private mutating func giveUp(_ path: [String]) -> Bool {
        switch path[0] {
        case "steps": return giveUpStep(path.dropFirst())
        case "params": return retire(path, from: \.params)
        case "vars": return retire(path, from: \.vars)
        case "secrets": return retire(path, from: \.secrets)
        case "env": return retire(path, from: \.env)
        case "default" where !defaultSteps.isEmpty:
            tail.append("not converted: default: \(YAMLText.flow(.texts(defaultSteps)))")
            defaultSteps = []
            return true
        default:
            return retire(["", path[0]], from: \.settings)
        }
    }

    private mutating func giveUpStep(_ path: ArraySlice<String>) -> Bool {
        guard let index = steps.firstIndex(where: { $0.id == path.first }) else { return false }
        if steps[index].giveUp(at: path.dropFirst()) { return true }
        guard steps.count > 1 else { return false }
        let step = steps.remove(at: index)
        tail += step.origin.comments("not converted: \(step.id)")
        return true
    }

    private mutating func retire(_ path: [String], from entries: WritableKeyPath<WorkflowDraft, [YAMLEntry]>) -> Bool {
        guard path.count > 1, let index = self[keyPath: entries].firstIndex(where: { $0.key == path[1] }) else {
            return false
        }
        let entry = self[keyPath: entries].remove(at: index)
        tail += ["not converted:"] + YAMLWriter([entry]).lines.map { "    \($0)" }
        return true
    }
}

extension StepDraft {
    /// Gives up the step inside of it that the path leads to. Returns true if there was something to give up.
    fileprivate mutating func giveUp(at path: ArraySlice<String>) -> Bool {
        if path.count > 1, case .group(var steps, var finally) = body {
            let id = path[path.startIndex + 1]
            let rest = path.dropFirst(2)
            var isChanged = false
            if path.first == "steps", let index = steps.firstIndex(where: { $0.id == id }) {
                isChanged = steps[index].giveUp(at: rest)
            } else if path.first == "finally", let index = finally.firstIndex(where: { $0.id == id }) {
                isChanged = finally[index].giveUp(at: rest)
            }
            if isChanged {
                body = .group(steps, finally: finally)
                return true
            }
        }
        let before = self
        giveUp("flowrun does not accept what it would become")
        return self != before
    }
}
