/// A part of a regular expression.
indirect enum PatternNode: Sendable {
    enum Assertion: Sendable {
        case start, end, wordBoundary, noWordBoundary

        func holds(after previous: Unicode.Scalar?, before next: Unicode.Scalar?) -> Bool {
            switch self {
            case .start: return previous == nil
            case .end: return next == nil
            case .wordBoundary, .noWordBoundary:
                let isBoundary = (previous?.isWordScalar ?? false) != (next?.isWordScalar ?? false)
                return isBoundary == (self == .wordBoundary)
            }
        }
    }

    case letter(Unicode.Scalar)
    case set(ScalarSet)
    case assertion(Assertion)
    case sequence([PatternNode])
    case alternatives([PatternNode])
    /// The least and the largest number of repetitions; nil for no limit.
    case repeated(PatternNode, Int, Int?)
}

/// Reads a regular expression: letters, `.`, classes, groups, alternatives, repetitions and anchors, spelt as in Perl.
struct PatternParser {
    private static let depthLimit = 50
    private static let repetitionLimit = 1000

    private let letters: [Unicode.Scalar]
    private var index = 0
    private var depth = 0
    private var ignoresCase = false

    static func parse(_ text: String) throws(PatternError) -> PatternNode {
        var parser = PatternParser(letters: Array(text.unicodeScalars))
        let node = try parser.alternatives()
        guard parser.index == parser.letters.count else { throw PatternError(message: "`)` closes no group") }
        return node
    }

    private init(letters: [Unicode.Scalar]) { self.letters = letters }

    private var next: Unicode.Scalar? { index < letters.count ? letters[index] : nil }

    private mutating func take(_ text: String) -> Bool {
        guard letters[index...].starts(with: text.unicodeScalars) else { return false }
        index += text.unicodeScalars.count
        return true
    }

    private mutating func alternatives() throws(PatternError) -> PatternNode {
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let letter = next, letter != "|", letter != ")" {
            if let node = try part() { nodes.append(try repetition(of: node)) }
        }
        return nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    /// Reads one letter, class, group or anchor; nil for an option that only changes how the rest is read.
    private mutating func part() throws(PatternError) -> PatternNode? {
        let letter = letters[index]
        index += 1
        switch letter {
        case ".": return .set(ScalarSet(parts: Self.lineEnds, isInverted: true))
        case "^": return .assertion(.start)
        case "$": return .assertion(.end)
        case "[": return .set(try set())
        case "(": return try group()
        case "\\":
            let escaped = try escape()
            if case .letter(let letter) = escaped { return self.letter(letter) }
            return escaped
        case "*", "+", "?": throw PatternError(message: "`\(letter)` has nothing in front of it to repeat")
        case "{" where repetitionCount() != nil:
            throw PatternError(message: "`{` has nothing in front of it to repeat")
        default: return self.letter(letter)
        }
    }

    private func letter(_ letter: Unicode.Scalar) -> PatternNode {
        ignoresCase ? .set(ScalarSet(parts: [.range(letter...letter)], ignoresCase: true)) : .letter(letter)
    }

    private static let lineEnds: [ScalarSet.Part] = [
        .range("\u{A}"..."\u{D}"), .range("\u{85}"..."\u{85}"), .range("\u{2028}"..."\u{2029}"),
    ]

    // MARK: Repetitions

    private mutating func repetition(of node: PatternNode) throws(PatternError) -> PatternNode {
        let (least, most): (Int, Int?)
        switch next {
        case "*": (least, most) = (0, nil)
        case "+": (least, most) = (1, nil)
        case "?": (least, most) = (0, 1)
        case "{":
            let start = index
            index += 1
            guard let count = repetitionCount() else {
                index = start
                return node
            }
            guard count.least <= Self.repetitionLimit, count.most ?? 0 <= Self.repetitionLimit else {
                throw PatternError(message: "a repetition counts to \(Self.repetitionLimit) at most")
            }
            guard count.most.map({ count.least <= $0 }) ?? true else {
                throw PatternError(message: "a repetition ends below its beginning")
            }
            (least, most) = count
            index -= 1
        default: return node
        }
        index += 1
        // The whole text has to match, so lazy and greedy repetitions find the same.
        _ = take("?")
        switch next {
        case "+": throw PatternError(message: "possessive repetitions such as `a++` are not supported")
        case "*", "?": throw PatternError(message: "`\(letters[index])` has nothing in front of it to repeat")
        default: return .repeated(node, least, most)
        }
    }

    /// Reads a count after a `{`, with the closing brace; nil, and nothing read, if it is not a repetition.
    private mutating func repetitionCount() -> (least: Int, most: Int?)? {
        let start = index
        let least = number()
        var most = least
        if take(",") { most = number() }
        guard let least, take("}") else {
            index = start
            return nil
        }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let digit = next, ("0"..."9").contains(digit) {
            value = min((value ?? 0) * 10 + Int(digit.value - 0x30), 1_000_000)
            index += 1
        }
        return value
    }

    // MARK: Groups

    private mutating func group() throws(PatternError) -> PatternNode? {
        let outer = ignoresCase
        if take("?") {
            if take("i)") {
                ignoresCase = true
                return nil
            }
            try refuseLookaround()
            if take("i:") {
                ignoresCase = true
            } else if take("<") || take("P<") {
                while let letter = next, letter.isWordScalar { index += 1 }
                guard take(">") else { throw PatternError(message: "the name of a group is not closed with `>`") }
            } else if !take(":") {
                throw PatternError(message: "`(?\(next.map(String.init) ?? "")` is not supported; `(?:`, `(?i)` are")
            }
        }
        depth += 1
        guard depth <= Self.depthLimit else {
            throw PatternError(message: "groups are nested deeper than \(Self.depthLimit) levels")
        }
        let node = try alternatives()
        depth -= 1
        guard take(")") else { throw PatternError(message: "`(` is not closed") }
        ignoresCase = outer
        return node
    }

    private func refuseLookaround() throws(PatternError) {
        for (spelling, name) in [
            ("=", "lookahead"), ("!", "lookahead"), ("<=", "lookbehind"), ("<!", "lookbehind"), (">", "atomic groups"),
        ] where letters[index...].starts(with: spelling.unicodeScalars) {
            throw PatternError(message: "`(?\(spelling)` (\(name)) is not supported")
        }
    }

    // MARK: Classes and escapes

    private mutating func set() throws(PatternError) -> ScalarSet {
        var set = ScalarSet(ignoresCase: ignoresCase)
        set.isInverted = take("^")
        repeat {
            guard let letter = next else { throw PatternError(message: "`[` is not closed") }
            index += 1
            if letter == "[", let parts = try namedClass() {
                set.parts += parts
                continue
            }
            guard let first = letter == "\\" ? try escapedLetter(into: &set) : letter else { continue }
            guard next == "-", index + 1 < letters.count, letters[index + 1] != "]" else {
                set.parts.append(.range(first...first))
                continue
            }
            index += 1
            let end = letters[index]
            index += 1
            guard let last = end == "\\" ? try escapedLetter(into: &set) : end, first <= last else {
                throw PatternError(message: "a range in `[ ]` goes from a letter to one that is not before it")
            }
            set.parts.append(.range(first...last))
        } while next != "]"
        index += 1
        return set
    }

    /// Reads `[:alpha:]` and the like, after the first bracket; nil if it is not one.
    private mutating func namedClass() throws(PatternError) -> [ScalarSet.Part]? {
        guard take(":") else { return nil }
        for (name, parts) in Self.namedClasses where take(name + ":]") { return parts }
        throw PatternError(
            message: "a named class is one of \(Self.namedClasses.map { "[:\($0.name):]" }.joined(separator: ", "))")
    }

    private static let (digit, lower, upper) = (
        ScalarSet.Part.range("0"..."9"), ScalarSet.Part.range("a"..."z"), ScalarSet.Part.range("A"..."Z")
    )
    private static let namedClasses: [(name: String, parts: [ScalarSet.Part])] = [
        ("digit", [digit]), ("lower", [lower]), ("upper", [upper]), ("alpha", [lower, upper]),
        ("alnum", [digit, lower, upper]), ("xdigit", [digit, .range("a"..."f"), .range("A"..."F")]),
        ("punct", [.range("!"..."/"), .range(":"..."@"), .range("["..."`"), .range("{"..."~")]),
        ("blank", [.range(" "..." "), .range("\t"..."\t")]), ("space", [.blanks]), ("word", [.words]),
        ("print", [.range(" "..."~")]), ("graph", [.range("!"..."~")]),
        ("cntrl", [.range("\0"..."\u{1F}"), .range("\u{7F}"..."\u{7F}")]),
    ]

    /// Returns the letter that an escape in a class means; nil if it means a class, which is then in the set.
    private mutating func escapedLetter(into set: inout ScalarSet) throws(PatternError) -> Unicode.Scalar? {
        if next == "b" {
            index += 1
            return "\u{8}"
        }
        switch try escape() {
        case .letter(let letter): return letter
        case .set(let inner):
            set.parts += inner.parts
            return nil
        default: throw PatternError(message: "`\\\(letters[index - 1])` has no meaning inside `[ ]`")
        }
    }

    private mutating func escape() throws(PatternError) -> PatternNode {
        guard let letter = next else { throw PatternError(message: "it ends with a lone `\\`") }
        index += 1
        switch letter {
        case "d": return .set(ScalarSet(parts: [.digits]))
        case "D": return .set(ScalarSet(parts: [.not(.digits)]))
        case "w": return .set(ScalarSet(parts: [.words]))
        case "W": return .set(ScalarSet(parts: [.not(.words)]))
        case "s": return .set(ScalarSet(parts: [.blanks]))
        case "S": return .set(ScalarSet(parts: [.not(.blanks)]))
        case "A": return .assertion(.start)
        case "z", "Z": return .assertion(.end)
        case "b": return .assertion(.wordBoundary)
        case "B": return .assertion(.noWordBoundary)
        case "n": return .letter("\n")
        case "r": return .letter("\r")
        case "t": return .letter("\t")
        case "f": return .letter("\u{C}")
        case "v": return .letter("\u{B}")
        case "e": return .letter("\u{1B}")
        case "x": return .letter(try scalar(digits: 2))
        case "u": return .letter(try scalar(digits: 4))
        case "1"..."9", "k":
            throw PatternError(message: "`\\\(letter)` (a reference back to a group) is not supported")
        case "p", "P":
            throw PatternError(
                message: "`\\\(letter)` (a Unicode property) is not supported; `\\w`, `\\d` and `\\s` are")
        case "a"..."z", "A"..."Z", "0": throw PatternError(message: "`\\\(letter)` has no meaning")
        default: return .letter(letter)
        }
    }

    /// Reads this many hexadecimal digits, or up to 8 of them in braces.
    private mutating func scalar(digits: Int) throws(PatternError) -> Unicode.Scalar {
        let isBraced = take("{")
        var text = ""
        while let digit = next, digit.properties.isASCIIHexDigit, text.utf8.count < (isBraced ? 8 : digits) {
            text.unicodeScalars.append(digit)
            index += 1
        }
        guard isBraced ? take("}") : text.utf8.count == digits, let value = UInt32(text, radix: 16),
            let scalar = Unicode.Scalar(value)
        else { throw PatternError(message: "`\\x` and `\\u` take the hexadecimal number of a character") }
        return scalar
    }
}
