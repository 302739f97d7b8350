internal import WorkflowModel

/// The variables of a makefile, and what texts with references to them come to.
struct MakeVariables {
    struct Variable {
        /// As the file spells it, what `+=` adds included.
        var value: String
        /// Whether the environment or the command line gives the value, if they have one.
        var isDefault: Bool
        /// Whether only a run of make can tell the value.
        var isComputed = false
    }

    enum Place {
        /// A parameter, or a variable at the top of the file.
        case param, env
        /// In the scripts that read it, because a shell has to read its value as well.
        case inline
    }

    private(set) var variables: [String: Variable] = [:]
    /// In the order of the file.
    private(set) var names: [String] = []
    private let fileName: String
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

    /// The same with a value that holds for some targets only.
    func setting(_ assignments: [MakeAssignment]) -> MakeVariables {
        var copy = self
        for assignment in assignments { copy.set(assignment) }
        return copy
    }

    func place(of name: String) -> Place {
        guard let variable = variables[name], !variable.isComputed, Self.isName(name) else { return .inline }
        // Its own default would be read in place of what the shell has.
        guard let value = literal(variable.value), Self.isPlain(value) else { return .inline }
        return variable.isDefault && !value.isEmpty ? .param : .env
    }

    /// What a value comes to in the `env` of the file.
    func template(of name: String) -> String? {
        variables[name].flatMap { literal($0.value, withParams: true) }
    }

    private static func isName(_ name: String) -> Bool {
        name.allSatisfy(\.isVariableCharacter) && name.first?.isNumber == false && !VariableName.isListenedTo(name)
    }

    /// Whether a shell that finds the value in a variable does the same as one that finds it in its script.
    private static func isPlain(_ value: String) -> Bool {
        value.allSatisfy { $0.isVariableCharacter || " -_./:=+,@%*?".contains($0) }
            && !(value.words.first.map { $0.contains("=") && !$0.hasPrefix("-") } ?? false)
    }

    // MARK: - Texts

    /// A text without what only a shell or a run of make could tell; nil where there is such. With `withParams`,
    /// references to parameters stay references.
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
                    if withParams, place(of: reference) == .param {
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
                } else if let value = function(reference, automatic: automatic, depth: depth) {
                    result += value
                } else {
                    return nil
                }
            }
        }
        return result
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

    /// A text as a shell script; nil where a run of make would be needed, with the reason.
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
        // The shell finds the files where the text stands.
        if reference.hasPrefix("wildcard ") {
            return try append(String(reference.dropFirst(9)).trimmed, to: &script, automatic, depth: depth + 1)
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
        // Not set in the makefile, so from the environment.
        script.append(variable: reference)
    }

    private static let builtIn = [
        "MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "g++", "AR": "ar", "LD": "ld", "AS": "as", "CPP": "cc -E",
        "ARFLAGS": "rv", "CFLAGS": "", "CXXFLAGS": "", "CPPFLAGS": "", "LDFLAGS": "", "LDLIBS": "", "SHELL": "sh",
    ]
    /// Those of them that mean the same in the environment.
    private static let fromEnvironment: Set<String> = [
        "CC", "CXX", "AR", "LD", "AS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS",
    ]
}

/// Why a text of a makefile cannot be said.
struct MakeProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
