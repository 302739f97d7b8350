internal import Workflow

/// The variables of a makefile, as they are at one place of it.
struct MakeVariables {
    struct Variable {
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
            keep(name, as: old?.value ?? MakeBuiltIn.defined[name] ?? "")
            let before = old?.value ?? MakeBuiltIn.defined[name] ?? "$(\(MakeBuiltIn.inherited) \(name))"
            new.value = [before, value].filter { !$0.isEmpty }.joined(separator: " ")
        default:
            let isImmediate = assignment.sign.hasPrefix(":") || assignment.sign == "!="
            keep(name, as: old?.value ?? MakeBuiltIn.defined[name] ?? "")
            new.isImmediate = isImmediate
            new.isDefault = false
            new.isComputed = false
            new.value = assignment.sign == "!=" ? "$(shell \(assignment.value))" : assignment.value
            if isImmediate {
                let before = old?.value ?? MakeBuiltIn.defined[name] ?? "$(\(MakeBuiltIn.inherited) \(name))"
                new.value = Self.replacing(name, in: new.value, by: before)
            }
        }
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
        let all = variables.keys.map { ($0, newPlace(of: $0)) }
        places = Dictionary(uniqueKeysWithValues: all)
    }

    func place(of name: String) -> Place { places[name] ?? .inline }

    func isExported(_ name: String) -> Bool { variables[name].map { $0.isExported ?? exportsAll } ?? false }

    private func newPlace(of name: String) -> Place {
        guard let variable = variables[name], !variable.isComputed else { return .inline }
        let isExported = isExported(name)
        // A program would find it in its environment, where make does not put it.
        let isSeen =
            !isExported && (VariableName.isListenedTo(name) || uses.byShells.contains(name) || uses.callsOthers)
        if variable.isImmediate, value(ofShared: name) != nil { return isSeen ? .inline : .shared }
        guard Self.isName(name), variable.isExported != false, !(isSeen && !isParam(name)) else { return .inline }
        if isParam(name) { return .param }
        guard let value = literal(variable.value) else { return placeOfTemplate(name, variable) }
        // As a variable, a value with characters of the shell would mean something else than in the script.
        guard isExported || ShellWords.arePlain(value), !uses.inHeads.contains(name) || isExported else {
            return .inline
        }
        return .env
    }

    /// True for a variable that a caller may set and that has a plain value of its own, not made from others' that a
    /// caller may set.
    func isParam(_ name: String) -> Bool {
        guard let variable = variables[name], !variable.isComputed, Self.isName(name),
            !VariableName.isListenedTo(name), !uses.inHeads.contains(name), variable.isExported != false,
            variable.isDefault || uses.byVariables.contains(name) && !variable.isImmediate,
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
        guard let variable = variables[name], !variable.isComputed, Self.isName(Self.shellName(name)),
            !VariableName.isListenedTo(name)
        else { return nil }
        if variable.value.contains("$(wildcard "), let template = template(of: name) { return .text(template) }
        guard variable.value.contains("$(shell "), let script = try? script(ofShared: variable.value) else {
            return nil
        }
        guard script.contains("\n") else { return .inline([YAMLEntry("run", .text(script))]) }
        return .mapping([YAMLEntry("run", .script(script))])
    }

    private func script(ofShared text: String) throws(MakeProblem) -> String {
        let pieces = MakePiece.pieces(of: text)
        if pieces.count == 1, case .reference(let reference)? = pieces.first, reference.hasPrefix("shell ") {
            return try output(of: String(reference.dropFirst(6)), [:], isOneLine: true)
        }
        if pieces.count == 1, case .reference(let reference)? = pieces.first, let choice = MakeChoice(reference) {
            let test = try quoted("$(\(choice.variable))")
            let condition = choice.wanted.map { "[ \(test) = \(shellWord($0)) ]" } ?? "[ -n \(test) ]"
            let (value, otherwise) = (try script(ofShared: choice.value), try script(ofShared: choice.otherwise))
            return "if \(condition); then\n\(value)\nelse\n\(otherwise)\nfi"
        }
        return "printf %s \(try quoted(text))"
    }

    /// The name for use in a shell.
    static func shellName(_ name: String) -> String { name.replacing("-", with: "_").replacing(".", with: "_") }

    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.allSatisfy(\.isVariableCharacter) && name.first?.isNumber == false
    }

    /// True if a run may be given another value than the file's, although no parameter is made of it.
    func isFixed(_ name: String) -> Bool {
        guard let variable = variables[name], variable.isDefault, Self.isName(name) else { return false }
        return place(of: name) == .inline && !variable.isComputed && literal(variable.value) != nil
    }
}

/// The reason why a text of a makefile cannot be converted.
struct MakeProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// The definitions that make has without a file.
enum MakeBuiltIn {
    /// A function of ours: the value of a variable of the environment.
    static let inherited = "inherited environment"

    /// The variables that make defines, so that `?=` leaves them.
    static let defined = [
        "CC": "cc", "CXX": "g++", "AR": "ar", "LD": "ld", "AS": "as", "CPP": "$(CC) -E", "FC": "f77", "RM": "rm -f",
        "ARFLAGS": "rv", "LEX": "lex", "YACC": "yacc", "LINT": "lint", "MAKEINFO": "makeinfo", "TEX": "tex",
        "TEXI2DVI": "texi2dvi", "WEAVE": "weave", "TANGLE": "tangle", "PC": "pc", "M2C": "m2c", "CO": "co",
        "GET": "get", "MAKE": "make",
    ]
    static let others = [
        "CFLAGS": "", "CXXFLAGS": "", "CPPFLAGS": "", "LDFLAGS": "", "LDLIBS": "", "LOADLIBES": "", "TARGET_ARCH": "",
        "ASFLAGS": "", "TARGET_MACH": "", "SHELL": "sh", "OS": "",
    ]
    /// Those that the environment may give other values.
    static let fromEnvironment: Set<String> = [
        "CC", "CXX", "AR", "LD", "AS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS", "LEX", "YACC", "FC",
        "LOADLIBES", "ASFLAGS",
    ]

    static func value(of name: String) -> String? { defined[name] ?? others[name] }

    /// The output of a command that is the same wherever flowrun runs.
    static func output(of command: String) -> String? {
        let plain = command.replacing("2>/dev/null", with: "").replacing("|| echo Unknown", with: "")
            .replacing("|| echo not", with: "").trimmed
        return ["uname", "uname -s", "sh -c 'uname'", "sh -c 'uname -s'"].contains(plain) ? "Linux" : nil
    }

    /// True for a command that prints one line.
    static func printsOneLine(_ command: String) -> Bool {
        let words = command.words
        guard let first = words.first, !command.contains("\n") else { return false }
        if first == "git", words.count > 1 {
            return ["describe", "rev-parse", "branch", "config", "symbolic-ref"].contains(words[1])
                || words.contains("-1") || words.contains("-n1") || words.contains("--count")
        }
        if words.suffix(2) == ["wc", "-l"] || command.contains("head -1") || command.contains("head -n1")
            || command.contains("head -n 1") || command.contains("tail -1")
        {
            return true
        }
        return [
            "date", "whoami", "hostname", "uname", "pwd", "nproc", "id", "which", "basename", "dirname", "realpath",
            "readlink", "mktemp", "arch", "tput", "pkg-config", "command",
        ].contains(first)
            || first == "echo" && !command.contains("|") && !command.contains("$(")
    }
}
