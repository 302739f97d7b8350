internal import Workflow

/// The variables of a makefile, as they are at one place of it.
struct MakeVariables {
    struct Variable: Equatable {
        /// As the file spells it, including what `+=` adds.
        var value: String
        /// True if a value from the environment or the command line takes precedence.
        var isDefault: Bool
        /// True if only a run of make can determine the value.
        var isComputed = false
        /// True if every command finds it in its environment; nil if the file does not say.
        var isExported: Bool?
        /// True if the value is computed once, where it is written, and not at every read.
        var isImmediate = false
        /// True if it stands for one of two values, between which a run chooses.
        var isMerged = false
    }

    enum Place {
        /// A parameter, or a variable at the top of the file.
        case param, env
        /// One of `vars`, because the value is known only in the run.
        case shared
        /// In the scripts that read it, because a shell has to read its value as well.
        case inline
    }

    var variables: [String: Variable] = [:]
    /// True if everything is exported that the file does not except.
    var exportsAll = false
    /// The reason why names may have other values than the file says; nil if all of it was read.
    var doubt: String?
    /// The names that other variables read, those in targets and needs, and those that programs may find.
    var uses = Uses()
    /// Values that a run might be given otherwise, but that are read here: any other one is refused.
    var fixed: [String: String] = [:]
    /// The patterns of files that stand for the files that are there now.
    var fixedFiles: Set<String> = []
    /// The variables in names of files that only a run knows, and the texts that they had there.
    var symbols: [String: String] = [:]
    /// True if a condition asks for `make -s`.
    var readsSilence = false
    static let silence = "findstring $(MAKEFLAGS),s"
    /// The variables of make that must not be empty in the environment.
    var filled: Set<String> = []
    /// The beginning of the names of variables that hold what conditions compare.
    static let testPrefix = "make_test"
    let folder: ForeignFolder
    let fileName: String
    var assumption: Bool?
    private var places: [String: Place] = [:]
    static let depthLimit = 12

    struct Uses {
        var byVariables: Set<String> = []
        var inHeads: Set<String> = []
        var byShells: Set<String> = []
        /// True if a recipe runs something that may read any variable of its environment.
        var callsOthers = false
    }

    init(fileName: String, folder: ForeignFolder) {
        self.fileName = fileName
        self.folder = folder
    }

    mutating func set(_ assignment: MakeAssignment) {
        let name = assignment.name
        let old = variables[name]
        var new = old ?? Variable(value: "", isDefault: false)
        if assignment.isExported { new.isExported = true }
        defer { variables[name] = new }
        // What was computed from it before had no value of the environment either.
        if old == nil, MakeBuiltIn.value(of: name) == nil, Self.isName(name), fixed[name] == nil,
            variables.contains(where: { $0.key != name && $0.value.isImmediate && reads(name, in: $0.value.value) })
        {
            fixed[name] = ""
        }
        switch assignment.sign {
        case "?=":
            guard old == nil else { return }
            // What make defines by itself is defined already.
            if let value = MakeBuiltIn.defined[name] {
                (new.value, new.isDefault) = (value, true)
            } else {
                keep(name, as: "")
                (new.value, new.isDefault) = (assignment.value, true)
            }
        case "+=":
            let value =
                old?.isImmediate == true
                ? Self.replacing(name, in: assignment.value, by: old?.value ?? "") : assignment.value
            keep(name, as: old?.value ?? before(name))
            if let before = old?.value ?? (MakeBuiltIn.defined[name] == nil ? nil : MakeBuiltIn.before(name)) {
                new.value = [before, value].filter { !$0.isEmpty }.joined(separator: " ")
            } else {
                new.value = "$(\(MakeBuiltIn.inheritedBefore) \(name))\(value)"
            }
        default:
            let isImmediate = assignment.sign.hasPrefix(":") || assignment.sign == "!="
            let kept = stored(old, name, assignment)
            keep(name, as: kept ?? old?.value ?? before(name))
            new.isImmediate = isImmediate
            new.isMerged = false
            new.isDefault = false
            new.isComputed = false
            new.value = assignment.sign == "!=" ? "$(shell \(assignment.value))" : assignment.value
            if isImmediate {
                new.value = Self.replacing(name, in: new.value, by: kept ?? old?.value ?? MakeBuiltIn.before(name))
            }
        }
    }

    private func before(_ name: String) -> String { fixed[name] == "" ? "" : MakeBuiltIn.before(name) }

    /// Gives the output of a command a name of its own before another value replaces it, so that the command runs once.
    /// Returns the reference to it; nil if nothing reads the value so far.
    private mutating func stored(_ old: Variable?, _ name: String, _ assignment: MakeAssignment) -> String? {
        guard let old, old.isImmediate, old.value.contains("$(shell "), Self.isName(name) else { return nil }
        let isRead =
            MakePiece.names(in: assignment.value).contains(name)
            || variables.contains { $0.key != name && $0.value.isImmediate && reads(name, in: $0.value.value) }
        guard isRead else { return nil }
        var number = 1
        while variables["make_\(name)\(number)"] != nil { number += 1 }
        variables["make_\(name)\(number)"] = Variable(value: old.value, isDefault: false, isImmediate: true)
        return "$(make_\(name)\(number))"
    }

    /// Writes the value that a variable has so far into those that were computed from it once.
    private mutating func keep(_ name: String, as value: String) {
        for (other, variable) in variables where other != name && variable.isImmediate {
            guard reads(name, in: variable.value) else { continue }
            let kept = replacing(name, in: variable.value, by: value, depth: 0)
            variables[other]?.value = kept
        }
    }

    /// Replaces the references to a variable in a text.
    private static func replacing(_ name: String, in text: String, by value: String) -> String {
        MakePiece.mapped(text) { reference in
            if reference == name { return value }
            return reference.contains("$") ? "$(\(replacing(name, in: reference, by: value)))" : nil
        }
    }

    /// The same through the variables that read it.
    private func replacing(_ name: String, in text: String, by value: String, depth: Int) -> String {
        guard depth < Self.depthLimit else { return text }
        return MakePiece.mapped(text) { reference in
            if reference == name { return value }
            if let variable = variables[reference], !variable.isImmediate, reads(name, in: variable.value) {
                return replacing(name, in: variable.value, by: value, depth: depth + 1)
            }
            return reference.contains("$") ? "$(\(replacing(name, in: reference, by: value, depth: depth + 1)))" : nil
        }
    }

    /// True if a text reads a variable, by itself or through others.
    func reads(_ name: String, in text: String) -> Bool { names(readIn: text).contains(name) }

    /// All variables that a text reads, by itself or through others.
    func names(readIn text: String) -> Set<String> {
        var found: Set<String> = []
        var pending = [text]
        while let text = pending.popLast() {
            for name in MakePiece.names(in: text) where found.insert(name).inserted {
                if let value = variables[name]?.value { pending.append(value) }
            }
        }
        return found
    }

    /// Returns the variables with values that hold for some targets only.
    func setting(_ assignments: [MakeAssignment]) -> MakeVariables {
        guard !assignments.isEmpty else { return self }
        var copy = self
        for assignment in assignments { copy.set(assignment) }
        copy.settle()
        return copy
    }

    // MARK: - Places

    /// Determines the places of all variables, once all of the file was read.
    mutating func settle() {
        uses.byVariables = Set(variables.values.flatMap { MakePiece.names(in: $0.value) })
        places = [:]
        var seen: Set<String> = []
        for name in variables.keys.sorted() { settle(name, &seen) }
    }

    /// Determines the place of a variable behind those of the variables that it reads.
    private mutating func settle(_ name: String, _ seen: inout Set<String>) {
        guard let variable = variables[name], seen.insert(name).inserted else { return }
        for other in MakePiece.names(in: variable.value) { settle(other, &seen) }
        places[name] = newPlace(of: name)
    }

    func place(of name: String) -> Place { places[name] ?? .inline }

    func isExported(_ name: String) -> Bool { variables[name].map { $0.isExported ?? exportsAll } ?? false }

    private func newPlace(of name: String) -> Place {
        guard let variable = variables[name], !variable.isComputed else { return .inline }
        let isExported = isExported(name)
        if let place = placeOfShared(name, variable) { return place }
        guard Self.isName(name), variable.isExported != false, !(isSeen(name) && !isParam(name)) else {
            return .inline
        }
        if isParam(name) { return .param }
        guard let value = literal(variable.value) else { return placeOfTemplate(name, variable) }
        // As a variable, a value with characters of the shell would mean something else than in the script.
        guard isExported || ShellWords.arePlain(value), !uses.inHeads.contains(name) || isExported else {
            return .inline
        }
        return .env
    }

    /// True if a program would find the variable in its environment, where make does not put it.
    private func isSeen(_ name: String) -> Bool {
        !isExported(name)
            && (Self.isListenedTo(name) || uses.byShells.contains(name) || uses.callsOthers)
    }

    /// True for a name that a program may look for, or the makefile of another folder.
    private static func isListenedTo(_ name: String) -> Bool {
        VariableName.isListenedTo(name) || MakeBuiltIn.value(of: name) != nil
    }

    /// The place of a value that is computed once; nil for any other one.
    private func placeOfShared(_ name: String, _ variable: Variable) -> Place? {
        guard variable.isImmediate, value(ofShared: name) != nil else { return nil }
        // A shell does not read quotes in a variable as it reads them in the script.
        return name.hasPrefix(Self.testPrefix) || isPlain(variable.value, [:]) ? .shared : nil
    }

    /// True for a variable that a caller may set and that has a plain value of its own, not made from others' that a
    /// caller may set.
    func isParam(_ name: String) -> Bool {
        guard let variable = variables[name], !variable.isComputed, Self.isName(name), fixed[name] == nil,
            !VariableName.isListenedTo(name), !uses.inHeads.contains(name), variable.isExported != false,
            variable.isDefault
                || uses.byVariables.contains(name) && !variable.isImmediate && !Self.isListenedTo(name),
            variable.isDefault || !uses.byShells.contains(name) && !uses.callsOthers || isExported(name)
        else { return false }
        // Expands nothing that may lead back to itself.
        return ShellWords.arePlain(variable.value) && !variable.value.contains("\n")
    }

    /// The place of a value that only a run can determine.
    private func placeOfTemplate(_ name: String, _ variable: Variable) -> Place {
        guard !VariableName.isListenedTo(name) || isExported(name), template(of: name) != nil else { return .inline }
        if variable.value.contains("$(wildcard ") { return .inline }
        let values = [true, false].compactMap { assuming($0).literal(variable.value) }
        return values.count == 2 && values.allSatisfy { ShellWords.arePlain($0) } ? .env : .inline
    }

    /// The value of a variable in the `env` of the file; nil if there is none.
    func template(of name: String) -> String? {
        guard let variable = variables[name], let text = literal(variable.value, withParams: true) else { return nil }
        guard variable.isDefault, let value = ExpressionText.expression(of: text) else { return text }
        return "${{ env.\(name) ?? \(value) }}"
    }

    /// The entry of a variable in `vars`, whose value is computed once; nil if it cannot be one.
    func value(ofShared name: String) -> YAMLValue? {
        guard let variable = variables[name], !variable.isComputed, Self.isName(Self.shellName(name)) else {
            return nil
        }
        if variable.isImmediate, variable.value.contains("$(wildcard "), !variable.isDefault,
            let template = template(of: name)
        {
            return .text(template)
        }
        guard variable.isImmediate, literal(variable.value) == nil,
            isRunning(variable.value), let script = try? script(ofShared: variable.value)
        else { return nil }
        guard script.contains("\n") else { return .inline([YAMLEntry("run", .text(script))]) }
        return .mapping([YAMLEntry("run", .script(script))])
    }

    /// True if a text reads the output of a command, or a value that is computed from one.
    private func isRunning(_ text: String) -> Bool {
        text.contains("$(shell ")
            || names(readIn: text).contains {
                variables[$0].map { $0.value.contains("$(shell ") || $0.isMerged } ?? false
            }
            || text.contains("$(") && names(readIn: text).allSatisfy { variables[$0] == nil }
    }

    /// The key of a variable in `vars`: another name where a program would find it in its environment.
    func sharedKey(_ name: String) -> String {
        let key = Self.shellName(name)
        guard !key.hasPrefix("make_"), isSeen(name) || Self.isListenedTo(name) else { return key }
        return "make_\(key)"
    }

    private func script(ofShared text: String) throws(MakeProblem) -> String {
        let pieces = MakePiece.pieces(of: text)
        if pieces.count == 1, case .reference(let reference)? = pieces.first {
            if reference.hasPrefix("shell ") {
                return try output(of: String(reference.dropFirst(6)), [:], isOneLine: true)
            }
            if let choice = MakeChoice(reference), reading(of: choice.variable) != nil {
                return try script(of: choice, [:])
            }
            if let script = try script(ofFunction: reference, [:]) { return script }
        }
        return "printf %s \(try quoted(text))"
    }

    /// The name for use in a shell.
    static func shellName(_ name: String) -> String { name.replacing("-", with: "_").replacing(".", with: "_") }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy(\.isVariableCharacter) && name.first?.isNumber == false
    }

    /// True for a pattern that `glob` reads like make.
    static func isFilePattern(_ text: String) -> Bool {
        let isPlain = text.allSatisfy { $0.isVariableCharacter || "-./*".contains($0) }
        return isPlain && !text.contains("**") && !text.hasPrefix("./") && !text.hasPrefix("/") && !text.contains("..")
            && !text.hasSuffix("/")
    }

    /// Each fixed pattern with the condition under which it has the files that it has now.
    var fileConditions: [(pattern: String, condition: String)] {
        fixedFiles.sorted().map { pattern in
            let files = folder.matches(pattern)
            guard pattern.contains("*") else {
                return (pattern, files.isEmpty ? "!exists('\(pattern)')" : "exists('\(pattern)')")
            }
            let list = files.joined(separator: " ").replacing("'", with: "''")
            return (pattern, "join(glob('\(pattern)', '\(pattern)/'), ' ') == '\(list)'")
        }
    }

    /// True for a name that make gives a meaning.
    static func isMakes(_ name: String) -> Bool {
        name.hasPrefix("MAKE") || ["CURDIR", "PWD", "SHELL", "SUFFIXES", "MFLAGS"].contains(name)
    }

    /// True if a run may be given another value than the file's, although no parameter is made of it.
    func isFixed(_ name: String) -> Bool {
        if fixed[name] != nil { return true }
        guard let variable = variables[name], variable.isDefault, Self.isName(name) else { return false }
        return place(of: name) == .inline && !variable.isComputed && literal(variable.value) != nil
    }
}

/// The reason why a text of a makefile cannot be converted.
struct MakeProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
