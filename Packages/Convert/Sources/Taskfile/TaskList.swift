internal import Syntax

/// The answer of `task --list-all --json`: the tasks of the file and of all that it includes.
struct TaskList {
    private struct Task {
        let name: String
        let description: String
        let file: String
        let line: String
    }

    private let tasks: [Task]

    init?(_ answer: String) {
        guard let json = JSONAnswer(answer) else { return nil }
        let tasks = json.read { root in
            let place = root.value("location")?.text ?? ""
            let folder = place.lastIndex(of: "/").map { String(place[...$0]) } ?? "/"
            return root.value("tasks")?.elements.map { task -> Task in
                let file = task.value("location")?.value("taskfile")?.text ?? ""
                return Task(
                    name: task.value("name")?.text ?? "", description: task.value("desc")?.text ?? "",
                    file: file.hasPrefix(folder) ? String(file.dropFirst(folder.count)) : file,
                    line: task.value("location")?.value("line")?.text ?? "")
            }
        }
        guard let tasks else { return nil }
        self.tasks = tasks
    }

    /// Adds the tasks that only included files have: those of a file that has nothing but tasks and reads no
    /// variables, and the others as steps to be filled in.
    func complete(_ own: WorkflowDraft, of source: SourceLines, in folder: ForeignFolder) -> WorkflowDraft {
        var draft = own
        let mayBePlain = !Self.hasFolders(source)
        var ids = StepIDs()
        for step in draft.steps { _ = ids.id(for: step.name ?? step.id) }
        let known = Set(draft.steps.map(\.id))
        let missing = tasks.filter { task in
            var fresh = StepIDs()
            return !known.contains(fresh.id(for: task.name))
        }
        for file in missing.map(\.file).unique {
            let tasks = missing.filter { $0.file == file }
            if mayBePlain, addPlain(tasks, of: file, to: &draft, &ids, in: folder) { continue }
            for task in tasks {
                var step = StepDraft(
                    ids.id(for: task.name), .unfinished("the task is line \(task.line) of `\(file)`, which is included")
                )
                (step.name, step.isManual) = (task.name, true)
                if !task.description.isEmpty { step.description = task.description }
                draft.steps.append(step)
            }
        }
        return draft
    }

    /// True if an include may run its tasks in another folder, of which the answer says nothing.
    private static func hasFolders(_ source: SourceLines) -> Bool {
        guard let start = source.lines.firstIndex(where: { $0.hasPrefix("includes:") }) else { return false }
        let rest = source.lines[(start + 1)...].prefix { $0.isBlank || " \t#".contains($0.first ?? " ") }
        return ([source.lines[start]] + rest).contains { $0.contains("dir:") }
    }

    private func addPlain(
        _ tasks: [Task], of path: String, to draft: inout WorkflowDraft, _ ids: inout StepIDs, in folder: ForeignFolder
    ) -> Bool {
        let spaces = Set(tasks.map { String($0.name.dropLast(($0.name.split(separator: ":").last?.count ?? 0))) })
        guard spaces.count == 1, let space = spaces.first, !space.isEmpty, let lines = folder.source(path),
            !lines.lines.contains(where: { $0.contains("{{") })
        else { return false }
        let file = SourceFile(name: path, text: lines.lines.map { $0 + "\n" }.joined())
        guard let document = YAMLParser.parse(file).document else { return false }
        let other = document.withRoot { root -> WorkflowDraft? in
            let keys = root.entries.map(\.key.text)
            guard keys.allSatisfy({ ["version", "tasks", "silent", "output"].contains($0) }) else { return nil }
            return TaskfileConversion.draft(of: root, source: YAMLSource(file: file, lines: lines), in: folder)
        }
        guard let other else { return false }
        var renamed: [String: String] = [:]
        for step in other.steps { renamed[step.id] = ids.id(for: space + step.id) }
        return draft.add(other, renamed: renamed, in: nil)
    }
}
