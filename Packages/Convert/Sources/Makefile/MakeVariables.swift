internal import Workflow

/// The variables of a makefile, and the expansion of texts that refer to them.
struct MakeVariables {
    struct Variable {
        /// As the file spells it, including what `+=` adds.
        var value: String
        /// True if a value from the environment or the command line takes precedence.
        var isDefault: Bool
        /// True if only a run of make can determine the value.
        var isComputed = false
        /// True if every command finds it in its environment.
        var isExported = false
        /// True if the value is computed once, where it is written, and not at every read.
        var isImmediate = false
    }

    enum Place {
        /// A parameter, or a variable at the top of the file.
        case param, env
        /// One of `vars`, because the value is known only in the run.
        case shared
        /// In the scripts that read it, because a shell has to read its value as well.
        case inline
    }

    private(set) var variables: [String: Variable] = [:]
    /// In the order of the file.
    private(set) var names: [String] = []
    private let fileName: String
    private var assumption: Bool?
    private static let depthLimit = 12

    init(_ statements: [MakeStatement], fileName: String) {
        self.fileName = fileName
        var sets: [String] = []
        for statement in statements {
            switch statement.content {
            case .assignment(let assignment): set(assignment)
            case .other(_, let names): sets += names
            default: break
            }
        }
        for name in sets where variables[name] == nil {
            variables[name] = Variable(value: "", isDefault: false, isComputed: true)
        }
    }

    private mutating func set(_ assignment: MakeAssignment) {
        let name = assignment.name
        if variables[name] == nil { names.append(name) }
        let wasExported = variables[name]?.isExported ?? false
        defer {
            variables[name]?.isExported = wasExported || assignment.isExported
            if assignment.sign == ":=" || assignment.sign == "::=" { variables[name]?.isImmediate = true }
        }
        switch assignment.sign {
        case "+=":
            let before = variables[name]?.value ?? ""
            let value = [before, assignment.value].filter { !$0.isEmpty }.joined(separator: " ")
            variables[name, default: Variable(value: "", isDefault: false)].value = value
        case "?=":
            if variables[name] == nil { variables[name] = Variable(value: assignment.value, isDefault: true) }
        case "!=": variables[name] = Variable(value: "$(shell \(assignment.value))", isDefault: false)
        default: variables[name] = Variable(value: assignment.value, isDefault: false)
        }
    }

    /// Returns the variables with values that hold for some targets only.
    func setting(_ assignments: [MakeAssignment]) -> MakeVariables {
        var copy = self
        for assignment in assignments { copy.set(assignment) }
        return copy
    }

    func place(of name: String) -> Place {
        guard let variable = variables[name], !variable.isComputed, Self.isName(name) else { return .inline }
        let isListenedTo = VariableName.isListenedTo(name)
        guard !isListenedTo || variable.isExported else { return .inline }
        guard let value = literal(variable.value) else { return placeOfTemplate(name, variable) }
        // As a variable, a value with characters of the shell would mean something else than in the script.
        guard Self.isPlain(value) else { return .inline }
        return variable.isDefault && !isListenedTo ? .param : .env
    }

    /// The place of a value that only a run can determine.
    private func placeOfTemplate(_ name: String, _ variable: Variable) -> Place {
        guard !variable.isDefault, !VariableName.isListenedTo(name), template(of: name) != nil else { return .inline }
        if variable.value.contains("$(wildcard ") { return variable.isImmediate ? .shared : .inline }
        let values = [true, false].compactMap { assuming($0).literal(variable.value) }
        return values.count == 2 && values.allSatisfy(Self.isPlain) ? .env : .inline
    }

    /// Returns the variables with all choices that depend on the run decided as `isTrue`.
    private func assuming(_ isTrue: Bool) -> MakeVariables {
        var copy = self
        copy.assumption = isTrue
        return copy
    }

    /// The value of a variable in the `env` of the file; nil if there is none.
    func template(of name: String) -> String? {
        variables[name].flatMap { literal($0.value, withParams: true) }
    }

    private static func isName(_ name: String) -> Bool {
        name.allSatisfy(\.isVariableCharacter) && name.first?.isNumber == false
    }

    /// True if the value means the same to a shell in a variable as in its script.
    private static func isPlain(_ value: String) -> Bool {
        value.allSatisfy { $0.isVariableCharacter || " -_./:=+,@%*?".contains($0) }
            && !(value.words.first.map { $0.contains("=") && !$0.hasPrefix("-") } ?? false)
    }

    // MARK: - Texts

    /// Expands a text; nil if a part of it depends on a shell or on a run of make. With `withParams`, references to
    /// parameters remain references.
    func literal(_ text: String, withParams: Bool = false, automatic: [String: String] = [:], depth: Int = 0) -> String?
    {
        guard depth < Self.depthLimit else { return nil }
        var result = ""
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text): result += text
            case .dollar: result += "$"
            case .reference(let reference):
                if let value = automatic[reference] {
                    result += value
                } else if let variable = variables[reference] {
                    guard !variable.isComputed else { return nil }
                    if withParams, isPlainParam(reference) {
                        result += "${{ params.\(reference) }}"
                    } else if let value = literal(
                        variable.value, withParams: withParams, automatic: automatic, depth: depth + 1)
                    {
                        result += value
                    } else {
                        return nil
                    }
                } else if let value = Self.builtIn[reference] {
                    result += value
                } else if reference == "MAKEFILE_LIST" {
                    result += fileName
                } else if let choice = MakeChoice(reference) {
                    guard let value = literal(choice, withParams: withParams, automatic, depth) else { return nil }
                    result += value
                } else if withParams, let patterns = patterns(of: reference, automatic, depth) {
                    result += "${{ join(glob(\(patterns)), ' ') }}"
                } else if let value = function(reference, automatic: automatic, depth: depth) {
                    result += value
                } else {
                    return nil
                }
            }
        }
        return result
    }

    /// True if `place` makes a name a parameter.
    private func isPlainParam(_ name: String) -> Bool {
        guard let variable = variables[name], variable.isDefault, Self.isName(name),
            !VariableName.isListenedTo(name), let value = literal(variable.value)
        else { return false }
        return !variable.isComputed && Self.isPlain(value)
    }

    /// True for a parameter with a plain default. Expands nothing, so that a variable may be defined by itself.
    private func isParam(_ variable: Variable) -> Bool {
        variable.isDefault && !variable.isComputed && Self.isPlain(variable.value)
    }

    /// The flowrun expression that reads the variable of a choice; nil if its value is known here.
    private func reading(of name: String) -> String? {
        guard Self.isName(name), !VariableName.isListenedTo(name) else { return nil }
        if let variable = variables[name] { return isParam(variable) ? "params.\(name)" : nil }
        return Self.builtIn[name] == nil ? "(env.\(name) ?? '')" : nil
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

    private func function(_ reference: String, automatic: [String: String], depth: Int) -> String? {
        func value(_ text: some StringProtocol) -> String? {
            literal(String(text), automatic: automatic, depth: depth + 1)
        }
        // `$(VAR:.c=.o)`
        if let (name, change) = reference.cut(at: ":"), let (old, new) = change.cut(at: "="),
            name.allSatisfy({ $0.isVariableCharacter })
        {
            guard let words = value("$(\(name))")?.words, let old = value(old), let new = value(new) else { return nil }
            let pattern = old.contains("%") ? (old, new) : ("%" + old, "%" + new)
            return words.map { MakePattern(pattern.0).replaced($0, by: pattern.1) }.joined(separator: " ")
        }
        guard let (name, rest) = reference.cut(at: " ") else { return nil }
        let parts = MakePiece.arguments(of: rest)
        let arguments = parts.compactMap { value($0) }
        guard arguments.count == parts.count else { return nil }
        return MakeFunction.value(of: name, arguments)
    }

    /// Converts a text to a shell script. Throws the reason if a run of make would be needed.
    func script(_ text: String, automatic: [String: String]) throws(MakeProblem) -> String {
        var script = ShellText()
        try append(text, to: &script, automatic, depth: 0)
        let result = script.finish()
        if let problem = script.problem { throw MakeProblem(problem) }
        return result
    }

    private func append(
        _ text: String, to script: inout ShellText, _ automatic: [String: String], depth: Int
    ) throws(MakeProblem) {
        guard depth < Self.depthLimit else { throw MakeProblem("a variable is defined by itself") }
        for piece in MakePiece.pieces(of: text) {
            switch piece {
            case .text(let text): script.append(text)
            case .dollar: script.append("$")
            case .reference(let name): try append(reference: name, to: &script, automatic, depth: depth)
            }
        }
    }

    private func append(
        reference: String, to script: inout ShellText, _ automatic: [String: String], depth: Int
    ) throws(MakeProblem) {
        if let value = automatic[reference] { return script.append(value) }
        if let variable = variables[reference] {
            guard !variable.isComputed else { throw MakeProblem("only make knows `\(reference)`") }
            guard place(of: reference) == .inline else { return script.append(variable: reference) }
            return try append(variable.value, to: &script, automatic, depth: depth + 1)
        }
        if reference.hasPrefix("shell ") {
            return script.append(output: try self.script(String(reference.dropFirst(6)).trimmed, automatic: automatic))
        }
        // The shell expands the patterns in place of the reference.
        if reference.hasPrefix("wildcard ") {
            return try append(String(reference.dropFirst(9)).trimmed, to: &script, automatic, depth: depth + 1)
        }
        if let choice = MakeChoice(reference), reading(of: choice.variable) != nil,
            let value = literal(choice.value, automatic: automatic), Self.isPlain(value),
            let otherwise = literal(choice.otherwise, automatic: automatic), Self.isPlain(otherwise)
        {
            let shell = choice.shell(value, otherwise)
            return shell.isExpansion ? script.append(expansion: shell.text) : script.append(output: shell.text)
        }
        if reference == "CURDIR" || reference == "PWD" { return script.append(variable: "PWD") }
        if let value = Self.builtIn[reference] {
            guard Self.fromEnvironment.contains(reference) else { return script.append(value) }
            if value.isEmpty { return script.append(variable: reference) }
            return script.append(expansion: "\(reference):-\(value)")
        }
        if let value = literal("$(\(reference))", automatic: automatic) { return script.append(value) }
        guard reference.allSatisfy(\.isVariableCharacter), reference.first?.isNumber == false,
            !reference.hasPrefix("MAKE")
        else { throw MakeProblem("a script has nothing like `$(\(reference))`") }
        // Not set in the makefile, so it comes from the environment.
        script.append(variable: reference)
    }

    private static let builtIn = [
        "MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "g++", "AR": "ar", "LD": "ld", "AS": "as", "CPP": "cc -E",
        "ARFLAGS": "rv", "CFLAGS": "", "CXXFLAGS": "", "CPPFLAGS": "", "LDFLAGS": "", "LDLIBS": "", "SHELL": "sh",
    ]
    /// The built-in variables with the same meaning in the environment.
    private static let fromEnvironment: Set<String> = [
        "CC", "CXX", "AR", "LD", "AS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS",
    ]
}

/// The reason why a text of a makefile cannot be converted.
struct MakeProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
