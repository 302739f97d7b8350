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
        let own = variables.setting(target.assignments)
        do throws(MakeProblem) {
            if let problem = target.problem ?? problem ?? missing(target) ?? passed(by: target) ?? order(of: step) {
                throw MakeProblem(problem)
            }
            if target.origin.isComputed { step.notes += target.origin.head.comments("the rule") }
            for name in target.assignments.map(\.name).unique {
                guard own.place(of: name) != .inline else { continue }
                guard own.place(of: name) != .shared else { throw MakeProblem("only make knows `\(name)`") }
                step.env.append(YAMLEntry(name, .text(own.template(of: name) ?? "")))
            }
            let commands = try commands(of: target, own)
            if !commands.isEmpty || !exports.isEmpty && step.needs.isEmpty {
                step.body = .script(ShellCommand.script(exports + commands))
            } else if let doubt = variables.doubt, target.recipe.isEmpty {
                throw MakeProblem(doubt)
            } else if step.needs.isEmpty {
                step.body = .script(":")
            }
        } catch {
            step.giveUp(error.reason)
        }
        return step
    }

    /// make gives the variables of a target to everything that it needs; only one step can have each value here.
    private func passed(by target: MakeTarget) -> String? {
        guard !target.assignments.isEmpty else { return nil }
        var pending = target.needs + target.orderedAfter
        var seen: Set<String> = []
        while let name = pending.popLast() {
            guard seen.insert(name).inserted, let row = rows[name] else { continue }
            pending += targets[row].needs + targets[row].orderedAfter
            for assignment in target.assignments
            where targets[row].recipe.contains(where: { variables.reads(assignment.name, in: $0) })
                || variables.isExported(assignment.name)
            {
                return "make gives its `\(assignment.name)` to `\(name)`, too"
            }
        }
        return nil
    }

    /// make runs needs in the order of the rule.
    private func order(of step: StepDraft) -> String? {
        guard let first = step.needs.first(where: { $0.contains("clean") }), step.needs.count > 1 else { return nil }
        return "make runs `\(first)` and the others in this order; here they would run at the same time"
    }

    private func commands(of target: MakeTarget, _ variables: MakeVariables) throws(MakeProblem) -> [ShellCommand] {
        var lines = target.recipe
        // make removes the marks from every line that it gives to one shell, but obeys only those of the first.
        if isOneShell, let first = lines.first {
            lines = [([first] + lines.dropFirst().map { Self.marked($0).text }).joined(separator: "\n")]
        }
        let isTolerant = tolerant.contains("*") || tolerant.contains(target.name)
        var commands: [ShellCommand] = []
        for line in lines where !line.isBlank {
            for (line, automatic) in variables.lines(of: line, automatic: target.automatic) {
                let (text, isTolerated) = Self.marked(line)
                let script = try variables.script(text, automatic: automatic)
                if script.isBlank { continue }
                if ShellShape(script).leavesProcess {
                    throw MakeProblem("`&` leaves a process when the step has ended")
                }
                commands.append(
                    ShellCommand(
                        text: script, isTolerated: isTolerated || isTolerant, isStrict: isStrict || isStrictShell))
            }
        }
        return Self.withFolder(commands)
    }

    private var isStrictShell: Bool {
        variables.variables[".SHELLFLAGS"].flatMap { variables.literal($0.value) }.map {
            Interpreter.stopsAtFailure($0.words)
        } ?? false
    }

    /// `$(CURDIR)` is the first folder of the script, in every place of it.
    private static func withFolder(_ commands: [ShellCommand]) -> [ShellCommand] {
        let reads = commands.contains { $0.text.contains("$CURDIR") || $0.text.contains("${CURDIR}") }
        guard reads else { return commands }
        if commands.contains(where: { $0.text.contains("cd ") || $0.text.contains("pushd ") }) {
            return [ShellCommand(text: "CURDIR=$PWD", isShared: true)] + commands
        }
        return commands.map { command in
            var command = command
            command.text = command.text.replacing("${CURDIR}", with: "${PWD}").replacing("$CURDIR", with: "$PWD")
            return command
        }
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
