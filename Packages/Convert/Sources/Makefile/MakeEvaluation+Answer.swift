// Reading with what make has said about the file.
extension MakeEvaluation {
    /// Names whose values are those of one call of make.
    private static let ofCall: Set<String> = ["MAKECMDGOALS", "MAKELEVEL", "MAKEFLAGS", "MAKE_RESTARTS", "MFLAGS"]

    /// True if make has taken the first of the branches; nil if only the values of a run decide, or if it is not known.
    mutating func takes(
        _ branches: ArraySlice<(test: String?, part: [MakeStatement])>, of statement: MakeStatement
    ) -> Bool? {
        guard let answer, doubt == nil, let test = branches.first?.test, names(of: test).isDisjoint(with: Self.ofCall),
            let isTaken = answer.takes(
                branches.startIndex, of: MakePlace(file: statement.origin.file, line: statement.origin.line))
        else { return nil }
        var own = self
        if case .known(let decision) = own.decide(test) {
            if decision == isTaken {
                self = own
                return isTaken
            }
        } else if suffices(branches, of: statement, taken: isTaken) {
            return nil
        }
        decisive.formUnion(names(of: test))
        return isTaken
    }

    /// The names in a test, by themselves or through others.
    private func names(of test: String) -> Set<String> {
        let word = String(test.prefix(while: \.isLetter))
        let rest = test.dropFirst(word.count).trimmed
        guard word.hasSuffix("def") else { return variables.names(readIn: rest) }
        return variables.names(readIn: "$(\(variables.literal(rest) ?? rest))").union(MakePiece.names(in: rest))
    }

    /// True if own reading of a condition leaves nothing open, so that it is read as without an answer.
    private func suffices(
        _ branches: ArraySlice<(test: String?, part: [MakeStatement])>, of statement: MakeStatement, taken: Bool
    ) -> Bool {
        var own = self
        own.forgetAnswer()
        var fixed = own
        if let test = branches.first?.test, fixed.fix(test, toChoice: false), case .known(!taken) = fixed.decide(test) {
            return false
        }
        own.read(branches, of: statement)
        let isKnown = own.variables.variables.allSatisfy { name, variable in
            !variable.isComputed || variables.variables[name]?.isComputed == true
        }
        return own.problem == problem && own.variables.doubt == variables.doubt && isKnown
            && own.statements[statements.count...].allSatisfy { $0.doubt == nil }
    }

    /// True if the answer has what a text that only make can read has defined.
    mutating func isAnswered(_ text: String) -> Bool {
        guard answer != nil else { return false }
        let names = variables.names(readIn: text)
        let read = names.compactMap { variables.variables[$0] }
        let texts = [text] + read.map(\.value)
        // What it runs may do something besides, each time.
        let runs = { (text: String) in ["$(shell ", "${shell ", "$(file ", "$(guile "].contains(where: text.contains) }
        guard !runs(text), !read.contains(where: { !$0.isImmediate && runs($0.value) }) else { return false }
        let isHidden = { (text: String) in
            text.words.contains { ["export", "unexport", "undefine", "vpath", "load", "-load"].contains($0) }
                || text.contains("$(error") && !text.contains("$(if")
        }
        guard names.isDisjoint(with: Self.ofCall), !texts.contains(where: isHidden) else { return false }
        // `foreach` binds a name of its own.
        let bound = texts.flatMap { text in
            text.split(separator: "(").filter { $0.hasPrefix("foreach ") }.compactMap {
                $0.dropFirst(8).cut(at: ",")?.before.trimmed
            }
        }
        decisive.formUnion(names.subtracting(bound))
        return true
    }

    /// Takes over what own reading does not know or has read otherwise.
    mutating func adopt(_ database: MakeDatabase) {
        let isRead = database.files.allSatisfy { sources.contains(ForeignFolder.normal($0)) }
        if isRead { variables.doubt = nil }
        for (name, known) in database.variables {
            guard let own = variables.variables[name] else {
                // Its inputs are unknown, and what a command has printed may be another text tomorrow.
                let isMade = !known.isRecursive && (!isRead || hasShell)
                variables.variables[name] = .init(
                    value: known.value, isDefault: false, isComputed: isMade, isImmediate: !known.isRecursive)
                // It may have been assigned by `?=`.
                foreign.insert(name)
                continue
            }
            if own.isComputed || !differs(own, from: known) && !needsMake(own) { continue }
            decisive.formUnion(variables.names(readIn: own.value))
            variables.variables[name]?.value = known.value
            variables.variables[name]?.isImmediate = !known.isRecursive
        }
    }

    /// True if anything that only make can read runs a command.
    private var hasShell: Bool {
        decisive.contains { variables.variables[$0]?.value.contains("$(shell ") == true }
    }

    /// True for a value that make has expanded once, by functions that a script has not, from what the files say alone.
    private func needsMake(_ own: MakeVariables.Variable) -> Bool {
        guard own.isImmediate, !own.isMerged, variables.literal(own.value) == nil else { return false }
        let names = variables.names(readIn: own.value)
        let texts = [own.value] + names.compactMap { variables.variables[$0]?.value }
        return names.allSatisfy { name in
            guard let variable = variables.variables[name] else { return !MakeVariables.isName(name) }
            return !variable.isDefault && !variable.isComputed && !name.hasPrefix("MAKE")
        } && !texts.contains { $0.contains("$(shell ") || $0.contains("$(wildcard ") || $0.contains("inherited") }
    }

    private func differs(_ own: MakeVariables.Variable, from known: MakeDatabase.Variable) -> Bool {
        if known.isRecursive, own.value.trimmed == known.value.trimmed { return false }
        guard let value = variables.literal(own.value), let other = variables.literal(known.value) else { return false }
        return value.words != other.words
    }
}
