// Functions of make over values that only a shell knows, as scripts.
extension MakeVariables {
    /// The script that prints one of two values.
    func script(of choice: MakeChoice, _ automatic: [String: String]) throws(MakeProblem) -> String {
        let test = try shell(MakeTest(variable: choice.variable, wanted: choice.wanted))
        let value = try print(choice.value, automatic)
        if choice.otherwise.isEmpty { return "if \(test); then \(value); fi" }
        return "if \(test); then \(value); else \(try print(choice.otherwise, automatic)); fi"
    }

    /// A test as a command of a shell.
    func shell(_ test: MakeTest) throws(MakeProblem) -> String {
        let value = try quoted("$(\(test.variable))")
        guard let wanted = test.wanted else { return "[ \(test.isNegated ? "-z" : "-n") \(value) ]" }
        return "[ \(value) \(test.isNegated ? "!=" : "=") \(shellWord(wanted)) ]"
    }

    private func print(_ text: String, _ automatic: [String: String]) throws(MakeProblem) -> String {
        "printf %s \(try quoted(text, automatic))"
    }

    /// True if no part of a text has a meaning to a shell that its value in a variable would not have.
    func isPlain(_ text: String, _ automatic: [String: String], depth: Int = 0) -> Bool {
        guard depth < Self.depthLimit else { return false }
        return MakePiece.pieces(of: text).allSatisfy { piece in
            switch piece {
            case .text(let text): return ShellWords.arePlain(text)
            case .dollar: return false
            case .reference(let reference):
                if let value = automatic[reference] { return ShellWords.arePlain(value) }
                if let value = literal("$(\(reference))", automatic: automatic) { return ShellWords.arePlain(value) }
                if let variable = variables[reference] {
                    return !variable.isComputed
                        && (place(of: reference) == .shared || isPlain(variable.value, automatic, depth: depth + 1))
                }
                guard let (name, rest) = reference.cut(at: " "), MakeFunction.names.contains(name) else { return true }
                return name == "shell"
                    || MakePiece.arguments(of: rest).allSatisfy { isPlain($0, automatic, depth: depth + 1) }
            }
        }
    }

    /// The script that prints the value of a function; nil if there is none for it.
    func script(ofFunction reference: String, _ automatic: [String: String]) throws(MakeProblem) -> String? {
        guard let (name, rest) = reference.cut(at: " ") else { return nil }
        let parts = MakePiece.arguments(of: rest)
        guard let last = parts.last else { return nil }
        if name == "if", 2...3 ~= parts.count {
            let test = "[ -n \(try quoted(parts[0].trimmed, automatic)) ]"
            let value = try print(parts[1].trimmed, automatic)
            let otherwise = parts.count == 3 ? try print(parts[2].trimmed, automatic) : ":"
            return "if \(test); then \(value); else \(otherwise); fi"
        }
        if name == "or" {
            var script = "w=\(try quoted(parts[0].trimmed, automatic))"
            for part in parts.dropFirst() {
                script += "; if [ -z \"$w\" ]; then w=\(try quoted(part.trimmed, automatic)); fi"
            }
            return script + "; printf %s \"$w\""
        }
        if name == MakeBuiltIn.equal, parts.count == 2 {
            let test = "[ \(try quoted(parts[0], automatic)) = \(try quoted(parts[1], automatic)) ]"
            return "if \(test); then printf %s yes; fi"
        }
        if name == "wildcard", let patterns = literal(rest, automatic: automatic)?.words,
            patterns.allSatisfy({ $0.allSatisfy { $0.isVariableCharacter || "-./*?".contains($0) } })
        {
            return "s=; for w in \(patterns.joined(separator: " ")); do "
                + "if [ -e \"$w\" ]; then printf %s \"$s$w\"; s=' '; fi; done"
        }
        /// All arguments but the last one, which only make may know.
        let known = parts.dropLast().compactMap { literal($0, automatic: automatic) }
        guard known.count == parts.count - 1, known.allSatisfy({ ShellWords.arePlain($0) && !$0.contains("*") }) else {
            return nil
        }
        func words() throws(MakeProblem) -> String {
            let value = try quoted(last, automatic)
            let inner = value.dropFirst().dropLast()
            let isVariable = inner.first == "$" && inner.dropFirst().allSatisfy(\.isVariableCharacter)
            return isVariable ? String(inner) : "$(printf %s \(value))"
        }
        func each(_ text: String) throws(MakeProblem) -> String {
            "set -f; s=; for w in \(try words()); do \(text); s=' '; done"
        }
        switch (name, parts.count) {
        case ("firstword", 1): return "set -f; set -- \(try words()); printf %s \"$1\""
        case ("lastword", 1): return "set -f; w=; for w in \(try words()); do :; done; printf %s \"$w\""
        case ("words", 1): return "set -f; set -- \(try words()); printf %s \"$#\""
        case ("strip", 1): return "set -f; set -- \(try words()); printf %s \"$*\""
        case ("sort", 1):
            return "set -f; set -- $(printf '%s\\n' \(try words()) | LC_ALL=C sort -u); printf %s \"$*\""
        case ("word", 2):
            guard let number = Int(known[0].trimmed), number > 0 else { return nil }
            return "set -f; set -- \(try words()); printf %s \"${\(number)}\""
        case ("findstring", 2):
            guard !known[0].isEmpty, !known[0].contains("?") else { return nil }
            let text = shellWord(known[0])
            return "case \(try quoted(last, automatic)) in *\(text)*) printf %s \(text) ;; esac"
        case ("subst", 3):
            guard !known[0].isEmpty else { return nil }
            let (old, new) = (Self.escaped(known[0]), Self.escaped(known[1]))
            return "printf %s \(try quoted(last, automatic)) | sed \(shellWord("s/\(old)/\(new)/g"))"
        case ("filter", 2), ("filter-out", 2):
            let patterns = known[0].words.map { $0.replacing("%", with: "*") }
            guard !patterns.isEmpty, patterns.allSatisfy({ !$0.contains("?") && $0.count { $0 == "*" } < 2 }) else {
                return nil
            }
            let (yes, no) = ("printf %s \"$s$w\"; s=' '", ":")
            let (fits, others) = name == "filter" ? (yes, no) : (no, yes)
            return "set -f; s=; for w in \(try words()); do "
                + "case \"$w\" in \(patterns.joined(separator: "|"))) \(fits) ;; *) \(others) ;; esac; done"
        case ("addprefix", 2): return try each("printf %s \"$s\(known[0].trimmed)$w\"")
        case ("addsuffix", 2): return try each("printf %s \"$s${w}\(known[0].trimmed)\"")
        case ("realpath", 1): return try each("printf %s \"$s$(realpath -e \"$w\" 2>/dev/null || true)\"")
        case ("abspath", 1): return try each("printf %s \"$s$(realpath -ms \"$w\")\"")
        case ("notdir", 1): return try each("printf %s \"$s${w##*/}\"")
        case ("patsubst", 3):
            let (old, new) = (MakePattern(known[0].trimmed), MakePattern(known[1].trimmed))
            guard let end = old.suffix, let newEnd = new.suffix, !known[0].contains("?") else { return nil }
            return try each(
                "case \"$w\" in \(old.prefix)*\(end)) w=${w#\(old.prefix)}; "
                    + "w=\(new.prefix)${w%\(end)}\(newEnd) ;; esac; printf %s \"$s$w\"")
        default: return nil
        }
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if ".*[]^$/\\&".contains(character) { result.append("\\") }
            result.append(character)
        }
    }
}

// Functions whose values the makefile alone decides.
extension MakeVariables {
    func function(
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
        if name == "if", 2...3 ~= parts.count, let condition = value(parts[0].trimmed, automatic) {
            let text = condition.isEmpty ? (parts.count == 3 ? parts[2] : "") : parts[1]
            return literal(text.trimmed, withParams: withParams, automatic: automatic, depth: depth + 1)
        }
        let arguments = parts.compactMap { value($0, automatic) }
        guard arguments.count == parts.count else { return nil }
        return MakeFunction.value(of: name, arguments)
    }

    /// The text of a function that the file defines, and its `$(1)`, `$(2)`, …; nil if one of them is not known.
    func call(
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
}
