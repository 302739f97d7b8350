// The step of a target.
extension MakefileConversion {
    func step(_ target: MakeTarget) -> StepDraft {
        let id = ids.known(target.name) ?? target.name
        var step = StepDraft(id, .milestone, origin: target.origin)
        if id != target.name { step.name = target.name }
        let all = (target.needs + target.orderedAfter).unique
        step.needs = all.filter { rows[$0] != nil }.compactMap { ids.known($0) }.filter { $0 != id }
        let files = all.filter { rows[$0] == nil }
        step.comments = target.comments
        if step.comments.count == 1, target.description == nil, let line = step.comments.first, line.count < 80 {
            step.description = line
            step.comments = []
        } else {
            step.description = target.description
        }
        if !files.isEmpty { step.notes.append("files it reads: \(files.joined(separator: " "))") }
        let tidying = step.needs.filter { $0.contains("clean") }
        if !tidying.isEmpty, step.needs.count > tidying.count {
            step.comments.append(
                "make runs \(tidying.enumerated) first; here the others do not wait unless they need it")
        }
        if let problem = target.problem {
            step.body = .unfinished(problem)
            return step
        }
        if target.origin.isComputed { step.notes += target.origin.head.comments("the rule") }
        let own = variables.setting(target.assignments)
        for name in target.assignments.map(\.name).unique {
            guard own.place(of: name) != .inline else { continue }
            step.env.append(YAMLEntry(name, .text(own.template(of: name) ?? "")))
        }
        if !target.assignments.isEmpty {
            step.notes.append("make gives \(target.assignments.map(\.name).unique.enumerated) to what it needs, too")
        }
        do throws(MakeProblem) {
            let commands = try commands(of: target, own)
            if !commands.isEmpty {
                step.body = .script(ShellCommand.script(commands))
            } else if step.needs.isEmpty {
                step.body = .script(":")
            }
        } catch {
            step.giveUp(error.reason)
        }
        return step
    }

    private func commands(of target: MakeTarget, _ variables: MakeVariables) throws(MakeProblem) -> [ShellCommand] {
        var lines = target.recipe
        // make removes the marks from every line that it gives to one shell, but obeys only those of the first.
        if isOneShell, let first = lines.first {
            lines = [([first] + lines.dropFirst().map { Self.marked($0).text }).joined(separator: "\n")]
        }
        var commands: [ShellCommand] = []
        for line in lines where !line.isBlank {
            let (text, isTolerated) = Self.marked(line)
            let script = try variables.script(text, automatic: target.automatic)
            if script.isBlank { continue }
            commands.append(ShellCommand(text: script, isTolerated: isTolerated))
        }
        return commands
    }

    /// Returns a line of a recipe without `@`, `-` and `+` in front, and true if it may fail.
    private static func marked(_ line: String) -> (text: String, isTolerated: Bool) {
        var text = line.drop { $0.isWhitespace }
        guard let first = text.first, "@-+".contains(first) else { return (line, false) }
        var isTolerated = false
        while let mark = text.first, "@-+".contains(mark) {
            if mark == "-" { isTolerated = true }
            text = text.dropFirst().drop { $0 == " " || $0 == "\t" }
        }
        return (String(text), isTolerated)
    }
}

extension Excerpt {
    /// True if its first line has variables or continues on the next one.
    fileprivate var isComputed: Bool {
        lines.first.map { $0.contains("$(") || $0.contains("${") || $0.hasSuffix("\\") } ?? false
    }

    /// The first line with its continuations.
    fileprivate var head: Excerpt {
        let end = lines.firstIndex { !$0.hasSuffix("\\") } ?? lines.count - 1
        return Excerpt(file: file, line: line, lines: Array(lines[...end]))
    }
}
