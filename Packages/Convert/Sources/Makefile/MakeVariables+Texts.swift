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
        if let value = automatic[reference] { return value.contains(MakeSymbol.start) ? nil : value }
        if let variable = variables[reference] {
            guard !variable.isComputed else { return nil }
            if withParams, isParam(reference) { return "${{ params.\(reference) }}" }
            if withParams, variable.isDefault, Self.isName(reference), depth < 4 {
                return template(of: reference)
            }
            return literal(variable.value, withParams: withParams, automatic: automatic, depth: depth + 1)
        }
        if let name = MakeBuiltIn.name(in: reference, after: MakeBuiltIn.inherited) {
            if fixed[name] == "" { return "" }
            let value = MakeBuiltIn.value(of: name) ?? ""
            return withParams ? "${{ env.\(name) ?? '\(value)' }}" : assumption.map { _ in value }
        }
        if let name = MakeBuiltIn.name(in: reference, after: MakeBuiltIn.inheritedBefore) {
            if fixed[name] == "" { return "" }
            let expression = "if((env.\(name) ?? '') != '', format('{0} ', env.\(name) ?? ''), '')"
            return withParams ? "${{ \(expression) }}" : assumption.map { _ in "" }
        }
        if reference == MakeBuiltIn.comma { return "," }
        if fixed[reference] == "" { return "" }
        // A reference with a blank that is no function is one to a variable that nothing defines.
        if let name = reference.cut(at: " ")?.before, !MakeFunction.names.contains(name), !reference.contains("$"),
            name != "inherited", doubt == nil, name.allSatisfy({ $0.isLetter })
        {
            return ""
        }
        if let value = MakeBuiltIn.value(of: reference) {
            guard MakeBuiltIn.fromEnvironment.contains(reference), assumption == nil else {
                return literal(value, withParams: withParams, depth: depth + 1)
            }
            return withParams ? "${{ env.\(reference) ?? '\(value)' }}" : nil
        }
        if reference == "MAKEFILE_LIST" { return fileName }
        // The options of make that a run has no counterpart for.
        if reference == Self.silence { return "" }
        if reference.hasPrefix("shell ") {
            let command = reference.dropFirst(6).trimmed
            return MakeBuiltIn.output(of: literal(command, automatic: automatic, depth: depth + 1) ?? command)
        }
        if reference.hasPrefix("wildcard "), !fixedFiles.isEmpty,
            let words = literal(String(reference.dropFirst(9)), automatic: automatic, depth: depth + 1)?.words,
            words.allSatisfy(fixedFiles.contains)
        {
            return words.flatMap(folder.matches).joined(separator: " ")
        }
        if let choice = MakeChoice(reference) { return literal(choice, withParams: withParams, automatic, depth) }
        if withParams, let patterns = patterns(of: reference, automatic, depth) {
            return "${{ join(glob(\(patterns)), ' ') }}"
        }
        return function(reference, withParams: withParams, automatic: automatic, depth: depth)
    }

    /// The flowrun expression that reads the variable of a choice; nil if its value is known here.
    func reading(of name: String) -> String? {
        guard Self.isName(name) else { return nil }
        if variables[name] != nil, place(of: name) == .shared { return "vars.\(sharedKey(name))" }
        guard !VariableName.isListenedTo(name), fixed[name] == nil else { return nil }
        if variables[name] != nil { return isParam(name) ? "params.\(name)" : nil }
        return MakeBuiltIn.value(of: name) == nil ? "(env.\(name) ?? '')" : nil
    }

    private func literal(
        _ choice: MakeChoice, withParams: Bool, _ automatic: [String: String], _ depth: Int
    ) -> String? {
        if let read = reading(of: choice.variable) {
            guard let value = literal(choice.value, automatic: automatic, depth: depth + 1),
                let otherwise = literal(choice.otherwise, automatic: automatic, depth: depth + 1)
            else { return nil }
            if withParams { return choice.expression(reading: read, value, otherwise) }
            return assumption.map { $0 ? value : otherwise }
        }
        if let variable = variables[choice.variable], variable.isDefault, fixed[choice.variable] == nil { return nil }
        guard let known = literal("$(\(choice.variable))", automatic: automatic, depth: depth + 1) else { return nil }
        let isTrue = choice.wanted.map { known.words.contains($0) } ?? !known.isBlank
        return literal(isTrue ? choice.value : choice.otherwise, automatic: automatic, depth: depth + 1)
    }

    /// The patterns of `$(wildcard …)` as arguments of `glob`; nil for anything else.
    private func patterns(of reference: String, _ automatic: [String: String], _ depth: Int) -> String? {
        guard reference.hasPrefix("wildcard "),
            let words = literal(String(reference.dropFirst(9)), automatic: automatic, depth: depth + 1)?.words,
            !words.isEmpty, words.allSatisfy({ !$0.contains("'") })
        else { return nil }
        return words.map { "'\($0)'" }.joined(separator: ", ")
    }

    /// Expands names of files, with symbols for the values that only a run knows; nil if make alone knows a part.
    func symbolic(_ text: String, depth: Int = 0) -> String? {
        guard depth < Self.depthLimit, doubt == nil else { return nil }
        var result = ""
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text): result += text
            case .dollar: result += "$"
            case .reference(let reference):
                if let value = literal("$(\(reference))") {
                    result += value
                } else if place(of: "make_\(reference)") == .shared {
                    result += MakeSymbol.text(of: "make_\(reference)")
                } else if let variable = variables[reference], !variable.isComputed, !variable.isDefault,
                    let value = symbolic(variable.value, depth: depth + 1)
                {
                    result += value
                } else if place(of: reference) == .shared {
                    result += MakeSymbol.text(of: reference)
                } else {
                    return nil
                }
            }
        }
        return result
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
            let line = line.hasPrefix("\t") ? String(line.dropFirst()) : line
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

    /// A line whose marks `@`, `-` and `+` stand in it, and not in the variables at its beginning.
    func withMarks(_ line: String, _ automatic: [String: String]) -> String {
        let marks = line.prefix { "@-+ \t".contains($0) }
        let rest = String(line.dropFirst(marks.count))
        guard case .reference(let reference)? = MakePiece.pieces(of: rest).first,
            let value = literal("$(\(reference))", automatic: automatic),
            value.isEmpty || "@-+".contains(value.first ?? "x")
        else { return line }
        let tail = MakePiece.text(of: MakePiece.pieces(of: rest).dropFirst())
        return withMarks(marks + value.replacing("$", with: "$$") + tail, automatic)
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
        if let value = automatic[reference] {
            for (text, name) in MakeSymbol.parts(of: value) {
                script.append(text)
                if let name { script.append(variable: sharedKey(name)) }
            }
            return
        }
        if let variable = variables[reference] {
            return try append(variable, reference, to: &script, automatic, depth: depth)
        }
        if reference.hasPrefix("shell ") {
            let command = reference.dropFirst(6).trimmed
            // make reads it before the line begins, in the folder of the makefile.
            guard !script.changesFolder else { throw MakeProblem("the line reads `\(command)` in another folder") }
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
            let name = variables[choice.variable] != nil && place(of: choice.variable) == .shared
            let shell = choice.shell(name ? sharedKey(choice.variable) : choice.variable, value, otherwise)
            return shell.isExpansion ? script.append(expansion: shell.text) : script.append(output: shell.text)
        }
        if let choice = MakeChoice(reference), reading(of: choice.variable) != nil,
            [choice.value, choice.otherwise].allSatisfy({ isPlain($0, automatic) })
        {
            if doubt != nil, variables[choice.variable] == nil { throw MakeProblem(doubt ?? "") }
            return script.append(output: try self.script(of: choice, automatic))
        }
        if reference == "CURDIR" || reference == "PWD" { return script.append(variable: "CURDIR") }
        if let name = MakeBuiltIn.name(in: reference, after: MakeBuiltIn.inherited) {
            if fixed[name] == "" { return }
            guard let value = MakeBuiltIn.value(of: name), !value.isEmpty else { return script.append(variable: name) }
            return script.append(expansion: "\(name):-\(value)")
        }
        if let name = MakeBuiltIn.name(in: reference, after: MakeBuiltIn.inheritedBefore) {
            if fixed[name] == "" { return }
            return script.append(expansion: "\(name):+$\(name) ")
        }
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
        if let (name, rest) = reference.cut(at: " "), name == "if", case let parts = MakePiece.arguments(of: rest),
            2...3 ~= parts.count, let condition = literal(parts[0].trimmed, automatic: automatic)
        {
            let text = condition.isEmpty ? (parts.count == 3 ? parts[2] : "") : parts[1]
            return try append(text.trimmed, to: &script, automatic, depth: depth + 1)
        }
        if let (name, rest) = reference.cut(at: " "), name == "foreach" {
            let parts = rest.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            if parts.count == 3, let words = literal(parts[1], automatic: automatic)?.words {
                for (index, word) in words.enumerated() {
                    if index > 0 { script.append(" ") }
                    let inner = automatic.merging([parts[0].trimmed: word]) { $1 }
                    try append(parts[2], to: &script, inner, depth: depth + 1)
                }
                return
            }
        }
        if isPlain("$(\(reference))", automatic), let text = try self.script(ofFunction: reference, automatic) {
            return script.append(output: text)
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
        case .shared: script.append(variable: sharedKey(name))
        case .inline:
            guard !variable.isImmediate || !variable.value.contains("$(shell ") || known != nil else {
                throw MakeProblem("make computes `\(name)` once, before all steps")
            }
            if variable.value.contains("\n") { throw MakeProblem("`\(name)` has several lines") }
            if variable.isDefault, known == nil, Self.isName(name), isPlain(variable.value, automatic) {
                let value = try quoted(variable.value, automatic)
                return script.append(
                    output: "if [ -n \"${\(name)+x}\" ]; then printf %s \"$\(name)\"; else printf %s \(value); fi")
            }
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
    func quoted(_ text: String, _ automatic: [String: String] = [:]) throws(MakeProblem) -> String {
        var script = ShellText()
        script.append("\"")
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text):
                for character in text {
                    script.append("\"\\$`".contains(character) ? "\\\(character)" : "\(character)")
                }
            case .dollar: script.append("\\$")
            case .reference(let name):
                try append(reference: name, to: &script, automatic, depth: 0, isBeforeSlash: false)
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
