internal import Workflow

// The expansion of texts that refer to variables.
extension MakeVariables {
    /// Expands a text; nil if a part of it depends on a shell or on a run of make. With `withParams`, references to
    /// parameters remain references.
    func literal(_ text: String, withParams: Bool = false, automatic: [String: String] = [:], depth: Int = 0) -> String?
    {
        guard depth < Self.depthLimit else { return nil }
        var result = ""
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text): result += withParams ? text.replacing("${{", with: "$${{") : text
            case .dollar: result += "$"
            case .reference(let reference):
                guard let value = value(of: reference, withParams: withParams, automatic, depth) else { return nil }
                result += value
            }
        }
        return result
    }

    private func value(
        of reference: String, withParams: Bool, _ automatic: [String: String], _ depth: Int
    ) -> String? {
        if let value = automatic[reference] { return value }
        if let variable = variables[reference] {
            guard !variable.isComputed else { return nil }
            if withParams, isParam(reference) { return "${{ params.\(reference) }}" }
            if withParams, variable.isDefault, Self.isName(reference), depth < 4 {
                return template(of: reference)
            }
            return literal(variable.value, withParams: withParams, automatic: automatic, depth: depth + 1)
        }
        if let name = reference.cut(at: "\(MakeBuiltIn.inherited) ")?.after, Self.isName(name) {
            return withParams ? "${{ env.\(name) ?? '' }}" : assumption.map { _ in "" }
        }
        if let value = MakeBuiltIn.value(of: reference) {
            guard MakeBuiltIn.fromEnvironment.contains(reference), assumption == nil else {
                return literal(value, withParams: withParams, depth: depth + 1)
            }
            return withParams ? "${{ env.\(reference) ?? '\(value)' }}" : nil
        }
        if reference == "MAKEFILE_LIST" { return fileName }
        if reference.hasPrefix("shell ") { return MakeBuiltIn.output(of: reference.dropFirst(6).trimmed) }
        if let choice = MakeChoice(reference) { return literal(choice, withParams: withParams, automatic, depth) }
        if withParams, let patterns = patterns(of: reference, automatic, depth) {
            return "${{ join(glob(\(patterns)), ' ') }}"
        }
        return function(reference, withParams: withParams, automatic: automatic, depth: depth)
    }

    /// The flowrun expression that reads the variable of a choice; nil if its value is known here.
    func reading(of name: String) -> String? {
        guard Self.isName(name), !VariableName.isListenedTo(name) else { return nil }
        if variables[name] != nil { return isParam(name) ? "params.\(name)" : nil }
        return MakeBuiltIn.value(of: name) == nil ? "(env.\(name) ?? '')" : nil
    }

    private func literal(
        _ choice: MakeChoice, withParams: Bool, _ automatic: [String: String], _ depth: Int
    ) -> String? {
        guard let value = literal(choice.value, automatic: automatic, depth: depth + 1),
            let otherwise = literal(choice.otherwise, automatic: automatic, depth: depth + 1)
        else { return nil }
        if let read = reading(of: choice.variable) {
            if withParams { return choice.expression(reading: read, value, otherwise) }
            return assumption.map { $0 ? value : otherwise }
        }
        if let variable = variables[choice.variable], variable.isDefault { return nil }
        guard let known = literal("$(\(choice.variable))", automatic: automatic, depth: depth + 1) else { return nil }
        return (choice.wanted.map { known.words.contains($0) } ?? !known.isBlank) ? value : otherwise
    }

    /// The patterns of `$(wildcard …)` as arguments of `glob`; nil for anything else.
    private func patterns(of reference: String, _ automatic: [String: String], _ depth: Int) -> String? {
        guard reference.hasPrefix("wildcard "),
            let words = literal(String(reference.dropFirst(9)), automatic: automatic, depth: depth + 1)?.words,
            !words.isEmpty, words.allSatisfy({ !$0.contains("'") })
        else { return nil }
        return words.map { "'\($0)'" }.joined(separator: ", ")
    }

    private func function(
        _ reference: String, withParams: Bool, automatic: [String: String], depth: Int
    ) -> String? {
        func value(_ text: some StringProtocol, _ automatic: [String: String]) -> String? {
            literal(String(text), automatic: automatic, depth: depth + 1)
        }
        // `$(VAR:.c=.o)`
        if let (name, change) = reference.cut(at: ":"), let (old, new) = change.cut(at: "="),
            name.allSatisfy({ $0.isVariableCharacter })
        {
            guard let words = value("$(\(name))", automatic)?.words, let old = value(old, automatic),
                let new = value(new, automatic)
            else { return nil }
            let pattern = old.contains("%") ? (old, new) : ("%" + old, "%" + new)
            return words.map { MakePattern(pattern.0).replaced($0, by: pattern.1) }.joined(separator: " ")
        }
        if !reference.contains(" "), reference.contains("$"), let name = value(reference, automatic),
            !name.contains("$")
        {
            return literal("$(\(name))", withParams: withParams, automatic: automatic, depth: depth + 1)
        }
        guard let (name, rest) = reference.cut(at: " ") else { return nil }
        let parts = MakePiece.arguments(of: rest)
        if name == "foreach", parts.count == 3, let variable = value(parts[0].trimmed, automatic),
            let words = value(parts[1], automatic)?.words
        {
            let texts = words.compactMap { word in
                value(parts[2], automatic.merging([variable: word]) { $1 })
            }
            return texts.count == words.count ? texts.joined(separator: " ") : nil
        }
        if name == "call", let called = call(parts, { value($0, automatic) }) {
            return literal(called.text, automatic: automatic.merging(called.arguments) { $1 }, depth: depth + 1)
        }
        let arguments = parts.compactMap { value($0, automatic) }
        guard arguments.count == parts.count else { return nil }
        return MakeFunction.value(of: name, arguments)
    }

    /// The text of a function that the file defines, and its `$(1)`, `$(2)`, …; nil if one of them is not known.
    private func call(
        _ parts: [String], _ value: (String) -> String?
    ) -> (text: String, arguments: [String: String])? {
        guard let name = value(parts[0].trimmed), let variable = variables[name], !variable.isComputed else {
            return nil
        }
        var arguments = ["0": name]
        for number in 1...9 { arguments[String(number)] = "" }
        for (index, part) in parts.dropFirst().enumerated() {
            guard let text = value(part) else { return nil }
            arguments[String(index + 1)] = text
        }
        return (variable.value, arguments)
    }

    // MARK: - Scripts

    /// Converts a text to a shell script. Throws the reason if a run of make would be needed.
    func script(_ text: String, automatic: [String: String]) throws(MakeProblem) -> String {
        var script = ShellText()
        try append(text, to: &script, automatic, depth: 0)
        let result = script.finish()
        if let problem = script.problem { throw MakeProblem(problem) }
        return result
    }

    /// The lines of a recipe that a line stands for: several, if it is one variable with several lines.
    func lines(of line: String, automatic: [String: String]) -> [(text: String, automatic: [String: String])] {
        let pieces = MakePiece.pieces(of: line.trimmed.drop { "@-+".contains($0) }.trimmed)
        guard pieces.count == 1, case .reference(let reference)? = pieces.first else { return [(line, automatic)] }
        var (text, arguments) = (variables[reference]?.value, automatic)
        if let (name, rest) = reference.cut(at: " "), name == "call",
            let called = call(MakePiece.arguments(of: rest), { literal($0, automatic: automatic) })
        {
            (text, arguments) = (called.text, automatic.merging(called.arguments) { $1 })
        }
        guard let text, text.contains("\n") else { return [(line, automatic)] }
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if let last = lines.last, last.hasSuffix("\\") {
                lines[lines.count - 1] = "\(last)\n\(line)"
            } else {
                lines.append(line)
            }
        }
        // The marks before the variable hold for all of its lines.
        let marks = String(line.trimmed.prefix { "@-+".contains($0) })
        return lines.map { (marks + $0, arguments) }
    }

    private func append(
        _ text: String, to script: inout ShellText, _ automatic: [String: String], depth: Int
    ) throws(MakeProblem) {
        guard depth < Self.depthLimit else { throw MakeProblem("a variable is defined by itself") }
        let pieces = MakePiece.pieces(of: text)
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let text): script.append(text)
            case .dollar: script.append("$")
            case .reference(let name):
                var isBeforeSlash = false
                if index + 1 < pieces.count, case .text(let next) = pieces[index + 1] {
                    isBeforeSlash = next.hasPrefix("/")
                }
                try append(reference: name, to: &script, automatic, depth: depth, isBeforeSlash: isBeforeSlash)
            }
        }
    }

    private func append(
        reference: String, to script: inout ShellText, _ automatic: [String: String], depth: Int, isBeforeSlash: Bool
    ) throws(MakeProblem) {
        if let value = automatic[reference] { return script.append(value) }
        if let variable = variables[reference] {
            return try append(variable, reference, to: &script, automatic, depth: depth)
        }
        if reference.hasPrefix("shell ") {
            let command = reference.dropFirst(6).trimmed
            return script.append(output: try output(of: command, automatic, isOneLine: script.isInQuotes))
        }
        // The shell expands the patterns in place of the reference.
        if reference.hasPrefix("wildcard "), !script.isInQuotes {
            guard let patterns = literal(String(reference.dropFirst(9)), automatic: automatic)?.trimmed,
                patterns.allSatisfy({ $0.isVariableCharacter || " -./*?".contains($0) })
            else { throw MakeProblem("only make knows `$(\(reference))`") }
            // Unlike make, a shell keeps a pattern that matches nothing.
            guard !folder.isKnown || patterns.words.allSatisfy({ !folder.matches($0).isEmpty }) else {
                throw MakeProblem("no file matches `\(patterns)` yet")
            }
            return script.append(patterns)
        }
        if let choice = MakeChoice(reference), reading(of: choice.variable) != nil,
            let value = literal(choice.value, automatic: automatic), ShellWords.arePlain(value),
            let otherwise = literal(choice.otherwise, automatic: automatic), ShellWords.arePlain(otherwise)
        {
            if doubt != nil, variables[choice.variable] == nil { throw MakeProblem(doubt ?? "") }
            let shell = choice.shell(value, otherwise)
            return shell.isExpansion ? script.append(expansion: shell.text) : script.append(output: shell.text)
        }
        if reference == "CURDIR" || reference == "PWD" { return script.append(variable: "CURDIR") }
        if let name = reference.cut(at: "\(MakeBuiltIn.inherited) ")?.after { return script.append(variable: name) }
        if let value = MakeBuiltIn.value(of: reference) {
            guard MakeBuiltIn.fromEnvironment.contains(reference) else {
                return try append(value, to: &script, automatic, depth: depth + 1)
            }
            if value.isEmpty { return script.append(variable: reference) }
            return script.append(expansion: "\(reference):-\(value)")
        }
        if let value = literal("$(\(reference))", automatic: automatic) { return script.append(value) }
        if let (name, rest) = reference.cut(at: " "), name == "call",
            let called = call(MakePiece.arguments(of: rest), { literal($0, automatic: automatic) }),
            !called.text.contains("\n")
        {
            return try append(called.text, to: &script, automatic.merging(called.arguments) { $1 }, depth: depth + 1)
        }
        try append(undefined: reference, to: &script, isBeforeSlash: isBeforeSlash)
    }

    private func append(
        _ variable: Variable, _ name: String, to script: inout ShellText, _ automatic: [String: String], depth: Int
    ) throws(MakeProblem) {
        guard !variable.isComputed else { throw MakeProblem("only make knows `\(name)`") }
        if let doubt { throw MakeProblem(doubt) }
        let known = literal(variable.value)
        switch place(of: name) {
        case .env where known != nil: script.append(variable: name, value: known)
        case .param, .env:
            let values = known.map { [$0] } ?? [true, false].compactMap { assuming($0).literal(variable.value) }
            guard values.allSatisfy(script.readsAlike) else {
                throw MakeProblem("in the place of `$(\(name))` a shell does not read a variable like its value")
            }
            script.append(variable: name, value: known)
        case .shared: script.append(variable: Self.shellName(name))
        case .inline:
            guard !variable.isImmediate || !variable.value.contains("$(shell ") || known != nil else {
                throw MakeProblem("make computes `\(name)` once, before all steps")
            }
            if variable.value.contains("\n") { throw MakeProblem("`\(name)` has several lines") }
            try append(variable.value, to: &script, automatic, depth: depth + 1)
        }
    }

    private func append(
        undefined reference: String, to script: inout ShellText, isBeforeSlash: Bool
    ) throws(MakeProblem) {
        guard reference.allSatisfy(\.isVariableCharacter), reference.first?.isNumber == false,
            !reference.hasPrefix("MAKE")
        else { throw MakeProblem("a script has nothing like `$(\(reference))`") }
        if let doubt { throw MakeProblem(doubt) }
        // Not set in the makefile, so it comes from the environment. Without a value, a command or a path would be
        // another one.
        let isNeeded = script.isAtCommand || isBeforeSlash && script.isAtWord && reference != "DESTDIR"
        if isNeeded {
            script.append(expansion: "\(reference):?the makefile does not define it")
        } else {
            script.append(variable: reference)
        }
    }

    /// Returns a command whose output is that of `$(shell …)`: the failure of the command means nothing to make, and
    /// the output is one line.
    func output(
        of command: String, _ automatic: [String: String], isOneLine: Bool
    ) throws(MakeProblem) -> String {
        let script = try script(command.trimmed, automatic: automatic)
        let isShort = MakeBuiltIn.printsOneLine(command)
        if isOneLine, !isShort { return "printf %s \"$(\(script))\" | tr '\\n' ' '" }
        return isOneLine ? ShellCommand.script([ShellCommand(text: script, isTolerated: true)]) : script
    }

    /// Returns a text as one word of a script.
    func quoted(_ text: String) throws(MakeProblem) -> String {
        var script = ShellText()
        script.append("\"")
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text):
                for character in text {
                    script.append("\"\\$`".contains(character) ? "\\\(character)" : "\(character)")
                }
            case .dollar: script.append("\\$")
            case .reference(let name): try append(reference: name, to: &script, [:], depth: 0, isBeforeSlash: false)
            }
        }
        script.append("\"")
        let result = script.finish()
        if let problem = script.problem { throw MakeProblem(problem) }
        return result
    }

    /// Returns the variables with all choices that depend on the run decided as `isTrue`.
    func assuming(_ isTrue: Bool) -> MakeVariables {
        var copy = self
        copy.assumption = isTrue
        return copy
    }
}
