// The step of a target.
extension MakefileConversion {
    func step(_ target: MakeTarget) -> StepDraft {
        let id = ids.known(target.name) ?? target.name
        var step = StepDraft(id, .milestone, origin: target.origin)
        if id != target.name { step.name = MakeSymbol.shown(target.name) }
        let all = (target.needs + target.orderedAfter).unique
        step.needs = all.filter { rows[$0] != nil }.compactMap { ids.known($0) }.filter { $0 != id }
        let files = all.filter { rows[$0] == nil && !withoutStep.contains($0) }
        step.comments = target.comments
        if step.comments.count == 1, target.description == nil, let line = step.comments.first, line.count < 80 {
            step.description = line
            step.comments = []
        } else {
            step.description = target.description
        }
        if !files.isEmpty { step.notes.append("files it reads: \(MakeSymbol.shown(files.joined(separator: " ")))") }
        let assignments = assignments(of: target)
        let own = variables.setting(assignments)
        do throws(MakeProblem) {
            if let problem = target.problem ?? problem ?? symbolsProblem(target) ?? missing(target) ?? passed(
                by: target) ?? found(target)
                ?? order(of: step)
            {
                throw MakeProblem(problem)
            }
            if target.origin.isComputed { step.notes += target.origin.head.comments("the rule") }
            for name in assignments.map(\.name).unique {
                guard own.place(of: name) != .inline else { continue }
                guard own.place(of: name) != .shared else { throw MakeProblem("only make knows `\(name)`") }
                step.env.append(YAMLEntry(name, .text(own.template(of: name) ?? "")))
            }
            let commands = symbolChecks(target) + (try commands(of: target, own))
            if !commands.isEmpty || !exports.isEmpty && step.needs.isEmpty {
                step.body = .script(ShellCommand.script(exports + commands))
                if target.recipe.contains(where: { $0.text.contains("$(MAKE)") || $0.text.contains("${MAKE}") }) {
                    step.sharesJobs()
                }
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

    /// The values that hold for a target: those of the patterns that it matches, the longest last, and its own.
    private func assignments(of target: MakeTarget) -> [MakeAssignment] {
        let fitting = ofPatterns.enumerated().filter { $1.pattern.stem(of: target.name) != nil }
        let sorted = fitting.sorted { ($0.element.pattern.length, $0.offset) < ($1.element.pattern.length, $1.offset) }
        return sorted.map(\.element.assignment) + target.assignments
    }

    /// The reason why only make knows which patterns fit a name with a symbol; nil if none can.
    private func symbolsProblem(_ target: MakeTarget) -> String? {
        guard target.name.contains(MakeSymbol.start), !ofPatterns.isEmpty else { return nil }
        return "only make knows which values of patterns it has"
    }

    /// Stops the step where a value in the names of files would make other names of them.
    private func symbolChecks(_ target: MakeTarget) -> [ShellCommand] {
        let names = [target.name] + target.needs + target.orderedAfter
        return names.flatMap { MakeSymbol.variables(in: $0) }.unique.map { name in
            let isAll = names.contains(MakeSymbol.text(of: name))
            let shown = MakeSymbol.shown(MakeSymbol.text(of: name))
            let message = shellWord("\(shown) cannot be part of the name of a file")
            let text =
                "case $\(variables.sharedKey(name)) in \(isAll ? "'' | " : "")*[!-a-zA-Z0-9_./+@]*) "
                + "echo \(message) >&2; exit 1 ;; esac"
            return ShellCommand(text: text, isShared: true)
        }
    }

    /// make gives the variables of a target to everything that it needs; only one step can have each value here.
    private func passed(by target: MakeTarget) -> String? {
        for assignment in assignments(of: target) {
            var pending = target.needs + target.orderedAfter
            var seen: Set<String> = []
            while let name = pending.popLast() {
                guard seen.insert(name).inserted, let row = rows[name] else { continue }
                let own = assignments(of: targets[row])
                let isReplaced = own.contains { $0.name == assignment.name && ["=", ":=", "::="].contains($0.sign) }
                let texts = targets[row].recipe.map(\.text) + own.map(\.value)
                let isRead = texts.contains { variables.setting(own).reads(assignment.name, in: $0) }
                if isReplaced, !own.contains(where: { $0.name == assignment.name && reads($0) }) { continue }
                if isRead || assignment.isExported || variables.isExported(assignment.name) {
                    return "make gives its `\(assignment.name)` to `\(name)`, too"
                }
                pending += targets[row].needs + targets[row].orderedAfter
            }
        }
        return nil
    }

    private func reads(_ assignment: MakeAssignment) -> Bool { variables.reads(assignment.name, in: assignment.value) }

    /// The reason why make may find a target that has a rule in another folder.
    private func found(_ target: MakeTarget) -> String? {
        let names = ([target.name] + target.needs + target.orderedAfter).filter {
            rows[$0] != nil && !phony.contains($0) && !$0.hasPrefix("/")
        }
        for name in names where searches.contains(where: { $0.pattern.stem(of: name) != nil }) {
            return "make looks for `\(name)` in other folders, by `vpath`"
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
            guard lines.allSatisfy({ $0.tests == first.tests }) else {
                throw MakeProblem("one shell has all lines, and only a run knows which")
            }
            let text = ([first.text] + lines.dropFirst().map { Self.marked($0.text).text }).joined(separator: "\n")
            lines = [MakeLine(text: text, tests: first.tests)]
        }
        var messages: [ShellCommand] = []
        var commands: [ShellCommand] = []
        for line in lines where !line.text.isBlank {
            var values = target.automatic
            // Of a target that is no file, all needs are newer.
            if phony.contains(target.name) { values["?"] = values["^"] }
            for (text, automatic) in variables.lines(of: line.text, automatic: values) {
                let text = variables.withMarks(text, automatic)
                if let message = try message(text, automatic, line.tests, variables) {
                    messages.append(message)
                } else if let choice = choice(Self.marked(text).text, automatic, variables) {
                    let marks = String(text.prefix { "@-+ \t".contains($0) })
                    let test = MakeTest(variable: choice.variable, wanted: choice.wanted)
                    for (value, test) in [(choice.value, test), (choice.otherwise, test.negated)] {
                        let line = MakeLine(text: marks + value, tests: line.tests + [test])
                        if let message = try message(line.text, automatic, line.tests, variables) {
                            messages.append(message)
                        } else if let command = try command(line, of: target, automatic, variables) {
                            commands.append(command)
                        }
                    }
                } else if let command = try command(
                    MakeLine(text: text, tests: line.tests), of: target, automatic, variables)
                {
                    commands.append(command)
                }
            }
        }
        return Self.withFolder(messages + commands)
    }

    /// The choice that a line consists of, if only a run knows it.
    private func choice(_ text: String, _ automatic: [String: String], _ variables: MakeVariables) -> MakeChoice? {
        let pieces = MakePiece.pieces(of: text.trimmed)
        guard pieces.count == 1, case .reference(let reference)? = pieces.first, let choice = MakeChoice(reference),
            variables.reading(of: choice.variable) != nil, variables.doubt == nil,
            variables.literal(text, automatic: automatic) == nil
        else { return nil }
        return choice
    }

    private func command(
        _ line: MakeLine, of target: MakeTarget, _ automatic: [String: String], _ variables: MakeVariables
    ) throws(MakeProblem) -> ShellCommand? {
        let (text, isTolerated) = Self.marked(line.text)
        let script = try variables.script(text, automatic: automatic)
        if script.isBlank { return nil }
        if ShellShape(script).leavesProcess { throw MakeProblem("`&` leaves a process when the step has ended") }
        let isTolerant = tolerant.contains("*") || tolerant.contains(target.name)
        return ShellCommand(
            text: try Self.tested(script, line.tests, variables), isTolerated: isTolerated || isTolerant,
            isStrict: isStrict || isStrictShell)
    }

    /// A script that runs only if all tests hold.
    private static func tested(
        _ script: String, _ tests: [MakeTest], _ variables: MakeVariables
    ) throws(MakeProblem) -> String {
        guard !tests.isEmpty else { return script }
        var parts: [String] = []
        for test in tests { parts.append(try variables.shell(test)) }
        return "if \(parts.joined(separator: " && ")); then\n\(script)\nfi"
    }

    /// The command for a line that is only a message of make, or stops it; nil for any other line. make expands all
    /// lines before it runs the first one.
    private func message(
        _ line: String, _ automatic: [String: String], _ tests: [MakeTest], _ variables: MakeVariables
    ) throws(MakeProblem) -> ShellCommand? {
        let pieces = MakePiece.pieces(of: Self.marked(line).text.trimmed)
        guard pieces.count == 1, case .reference(let reference)? = pieces.first,
            let (name, rest) = reference.cut(at: " "), ["info", "warning", "error"].contains(name)
        else { return nil }
        let text = try variables.quoted(rest, automatic)
        let script =
            switch name {
            case "info": "echo \(text)"
            case "warning": "echo \(text) >&2"
            default: "{ echo \(text) >&2; exit 2; }"
            }
        return ShellCommand(text: try Self.tested(script, tests, variables), isShared: true)
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
