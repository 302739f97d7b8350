/// A part of a text of a makefile.
enum MakePiece: Equatable {
    case text(String)
    /// `$$`.
    case dollar
    /// The text between the brackets of `$(…)`, or the letter of `$@`.
    case reference(String)

    static func pieces(of text: String) -> [MakePiece] {
        var pieces: [MakePiece] = []
        var literal = ""
        var rest = text[...]
        func flush() {
            if !literal.isEmpty { pieces.append(.text(literal)) }
            literal = ""
        }
        while let character = rest.popFirst() {
            guard character == "$", let next = rest.popFirst() else {
                literal.append(character)
                continue
            }
            flush()
            switch next {
            case "$": pieces.append(.dollar)
            case "(", "{":
                let inner = upToClosing(next == "(" ? ")" : "}", opening: next, in: rest)
                pieces.append(.reference(String(inner)))
                rest = rest[inner.endIndex...].dropFirst()
            default: pieces.append(.reference(String(next)))
            }
        }
        flush()
        return pieces
    }

    /// Replaces references of a text; the change returns nil for one to be kept.
    static func mapped(_ text: String, _ change: (String) -> String?) -> String {
        pieces(of: text).map { piece in
            if case .reference(let reference) = piece, let new = change(reference) { return new }
            return piece.text
        }.joined()
    }

    static func text(of pieces: some Sequence<MakePiece>) -> String { pieces.map(\.text).joined() }

    /// As a makefile spells it.
    private var text: String {
        switch self {
        case .text(let text): text
        case .dollar: "$$"
        case .reference(let reference): "$(\(reference))"
        }
    }

    /// The variables that a text reads by their names, also inside of functions.
    static func names(in text: String) -> [String] {
        pieces(of: text).flatMap { piece -> [String] in
            guard case .reference(let reference) = piece else { return [] }
            if let name = reference.cut(at: ":")?.before, name.allSatisfy(\.isIDCharacter) { return [name] }
            if let (function, rest) = reference.cut(at: " "), function == "call" {
                return [rest.prefix { $0 != "," }.trimmed] + names(in: rest)
            }
            return reference.contains { " $".contains($0) } ? names(in: reference) : [reference]
        }
    }

    /// The words of a text, with blanks inside of references.
    static func words(of text: String) -> [String] {
        var words = [""]
        for piece in pieces(of: text) {
            guard case .text(let text) = piece else {
                words[words.count - 1] += piece.text
                continue
            }
            for character in text {
                if character.isWhitespace { words.append("") } else { words[words.count - 1].append(character) }
            }
        }
        return words.filter { !$0.isEmpty }
    }

    /// The arguments of `$(wildcard …)` in a text, also inside of functions.
    static func patterns(in text: String) -> [String] {
        pieces(of: text).flatMap { piece -> [String] in
            guard case .reference(let reference) = piece else { return [] }
            if reference.hasPrefix("wildcard ") { return [String(reference.dropFirst(9))] }
            return reference.contains("$") ? patterns(in: reference) : []
        }
    }

    private static func upToClosing(_ closing: Character, opening: Character, in text: Substring) -> Substring {
        var depth = 0
        for index in text.indices {
            if text[index] == opening { depth += 1 }
            guard text[index] == closing else { continue }
            if depth == 0 { return text[..<index] }
            depth -= 1
        }
        return text
    }

    /// The arguments of a function: the texts between commas outside of references.
    static func arguments(of text: String) -> [String] {
        var arguments = [""]
        var depth = 0
        for character in text {
            if character == "(" || character == "{" { depth += 1 }
            if character == ")" || character == "}" { depth -= 1 }
            if character == ",", depth == 0 {
                arguments.append("")
            } else {
                arguments[arguments.count - 1].append(character)
            }
        }
        return arguments
    }
}

/// A pattern of a makefile with at most one `%`.
struct MakePattern {
    let prefix: String
    /// nil for a text without `%`.
    let suffix: String?

    init(_ text: String) {
        let parts = text.cut(at: "%")
        prefix = parts?.before ?? text
        suffix = parts?.after
    }

    /// The number of characters without `%`.
    var length: Int { prefix.count + (suffix?.count ?? 0) }

    /// The part of a word that `%` matches; nil if the pattern does not match.
    func stem(of word: String) -> String? {
        guard let suffix else { return word == prefix ? "" : nil }
        guard word.hasPrefix(prefix), word.hasSuffix(suffix), word.count >= prefix.count + suffix.count else {
            return nil
        }
        return String(word.dropFirst(prefix.count).dropLast(suffix.count))
    }

    func replaced(_ word: String, by replacement: String) -> String {
        guard let stem = stem(of: word) else { return word }
        return suffix == nil ? replacement : replacement.cut(at: "%").map { $0.before + stem + $0.after } ?? replacement
    }
}

/// The functions of make that depend only on their arguments.
enum MakeFunction {
    static let names: Set<String> = [
        "abspath", "addprefix", "addsuffix", "and", "basename", "call", "dir", "error", "eval", "file", "filter",
        "filter-out", "findstring", "firstword", "flavor", "foreach", "guile", "if", "info", "join", "lastword",
        "notdir", "or", "origin", "patsubst", "realpath", "shell", "sort", "strip", "subst", "suffix", "value",
        "warning", "wildcard", "word", "wordlist", "words",
    ]

    /// nil for a function that is not one of them.
    static func value(of name: String, _ arguments: [String]) -> String? {
        let last = arguments.last?.words ?? []
        func each(_ change: (String) -> String) -> String { last.map(change).joined(separator: " ") }
        switch (name, arguments.count) {
        case ("or", _): return arguments.map(\.trimmed).first { !$0.isEmpty } ?? ""
        case ("and", _):
            return arguments.contains { $0.isBlank } ? "" : arguments.last?.trimmed
        case ("findstring", 2): return arguments[1].contains(arguments[0]) ? arguments[0] : ""
        case ("strip", 1): return each { $0 }
        case ("subst", 3): return arguments[2].replacing(arguments[0], with: arguments[1])
        case ("patsubst", 3): return each { MakePattern(arguments[0].trimmed).replaced($0, by: arguments[1].trimmed) }
        case ("filter", 2): return last.filter { fits($0, arguments[0]) }.joined(separator: " ")
        case ("filter-out", 2): return last.filter { !fits($0, arguments[0]) }.joined(separator: " ")
        case ("sort", 1): return last.unique.sorted().joined(separator: " ")
        case ("addprefix", 2): return each { arguments[0].trimmed + $0 }
        case ("addsuffix", 2): return each { $0 + arguments[0].trimmed }
        case ("firstword", 1): return last.first ?? ""
        case ("lastword", 1): return last.last ?? ""
        case ("words", 1): return String(last.count)
        case ("word", 2):
            guard let number = Int(arguments[0].trimmed), number > 0 else { return nil }
            return last.dropFirst(number - 1).first ?? ""
        case ("wordlist", 3):
            guard let first = Int(arguments[0].trimmed), let end = Int(arguments[1].trimmed), first > 0, end >= 0 else {
                return nil
            }
            return last.prefix(end).dropFirst(first - 1).joined(separator: " ")
        case ("join", 2):
            let (left, right) = (arguments[0].words, last)
            return (0..<max(left.count, right.count)).map { index in
                (index < left.count ? left[index] : "") + (index < right.count ? right[index] : "")
            }.joined(separator: " ")
        case ("dir", 1): return each { folder(of: $0) + "/" }
        case ("notdir", 1): return each { fileName(of: $0) }
        case ("basename", 1): return each { String($0.dropLast(suffix(of: $0).count)) }
        case ("suffix", 1): return last.map(suffix).filter { !$0.isEmpty }.joined(separator: " ")
        default: return nil
        }
    }

    private static func fits(_ word: String, _ patterns: String) -> Bool {
        patterns.words.contains { MakePattern($0).stem(of: word) != nil }
    }

    /// `.` for a name without a folder.
    static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    static func fileName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    private static func suffix(of path: String) -> String {
        let name = fileName(of: path)
        return name.lastIndex(of: ".").map { String(name[$0...]) } ?? ""
    }
}

/// A value in the name of a file that only a run knows: the name of its variable between two characters that no file
/// has.
enum MakeSymbol {
    static let start: Character = "\u{E000}"
    private static let end: Character = "\u{E001}"

    static func text(of name: String) -> String { "\(start)\(name)\(end)" }

    /// The texts before the symbols of a name, each with the variable behind it.
    static func parts(of text: String) -> [(text: String, variable: String?)] {
        var parts: [(text: String, variable: String?)] = []
        var rest = text[...]
        while let first = rest.firstIndex(of: start), let last = rest[first...].firstIndex(of: end) {
            parts.append((String(rest[..<first]), String(rest[rest.index(after: first)..<last])))
            rest = rest[rest.index(after: last)...]
        }
        return parts + [(String(rest), nil)]
    }

    static func variables(in text: String) -> [String] { parts(of: text).compactMap(\.variable) }

    /// As a makefile spells it.
    static func shown(_ text: String) -> String {
        parts(of: text).map { text, variable in
            guard let variable else { return text }
            return "\(text)$(\(variable.hasPrefix("make_") ? String(variable.dropFirst(5)) : variable))"
        }.joined()
    }
}
