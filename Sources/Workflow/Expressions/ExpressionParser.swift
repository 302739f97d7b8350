internal import Basics
package import Syntax

/// Reads one expression. From the loosest to the tightest: `||`, `&&`, comparisons (not chained), `??`, `!`, and the
/// accessors of a value: `.name`, `[…]`, `.*`.
package struct ExpressionParser {
    /// The largest nesting depth of brackets, calls and `!`.
    package static let depthLimit = 64
    /// The largest length of an expression, in bytes.
    package static let lengthLimit = 65536

    private var lexer: ExpressionLexer
    private var token: ExpressionLexer.Token
    private var depth = 0
    private var usesStatus = false

    /// Parses a text that the file spells as it is, from the start of `range` on.
    package static func parse(_ text: String, at range: SourceRange) throws(ExpressionError) -> Expression {
        let text = ExpressionText(Array(text.utf8), from: range.start)
        return try parse(text, in: 0..<text.bytes.count)
    }

    static func parse(_ text: ExpressionText, in part: Range<Int>) throws(ExpressionError) -> Expression {
        var (start, end) = (part.lowerBound, part.upperBound)
        while start < end, isBlank(text.bytes[start]) { start += 1 }
        while end > start, isBlank(text.bytes[end - 1]) { end -= 1 }
        guard start < end else {
            throw ExpressionError("the expression is empty", at: text.range(part), fix: .init("write a value"))
        }
        guard end - start <= lengthLimit else {
            throw ExpressionError(
                "the expression is longer than \(lengthLimit) bytes", at: text.range(start..<start + 1),
                fix: .init("let a step compute it, and read its output"))
        }
        var parser = try ExpressionParser(text, in: start..<end)
        let root = try parser.disjunction()
        if parser.token.kind != .end { throw parser.unexpected(after: root) }
        return Expression(
            text: text.string(start..<end), range: text.range(start..<end), root: root,
            usesStatus: parser.usesStatus)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private init(_ text: ExpressionText, in part: Range<Int>) throws(ExpressionError) {
        lexer = ExpressionLexer(text, in: part)
        token = try lexer.next()
    }

    var text: ExpressionText { lexer.text }
    var current: ExpressionLexer.Token { token }

    // MARK: operators

    private mutating func disjunction() throws(ExpressionError) -> ExpressionNode {
        var parts = [try conjunction()]
        while try take(.or) { parts.append(try conjunction()) }
        return joined(parts) { .any($0) }
    }

    private mutating func conjunction() throws(ExpressionError) -> ExpressionNode {
        var parts = [try comparison()]
        while try take(.and) { parts.append(try comparison()) }
        return joined(parts) { .all($0) }
    }

    private mutating func comparison() throws(ExpressionError) -> ExpressionNode {
        let left = try coalescing()
        guard let comparison = comparisonHere else { return left }
        try advance()
        let right = try coalescing()
        if comparisonHere != nil {
            throw ExpressionError(
                "comparisons cannot be chained", at: text.range(token.range),
                fix: .init("join two comparisons by `&&`"))
        }
        return ExpressionNode(.comparison(comparison, left, right), at: left.range.joined(with: right.range))
    }

    private var comparisonHere: ExpressionNode.Comparison? {
        guard case .symbol(let symbol) = token.kind else { return nil }
        return ExpressionNode.Comparison(rawValue: symbol.rawValue)
    }

    private mutating func coalescing() throws(ExpressionError) -> ExpressionNode {
        var parts = [try unary()]
        while try take(.coalesce) { parts.append(try unary()) }
        return joined(parts) { .firstPresent($0) }
    }

    private func joined(
        _ parts: [ExpressionNode], _ kind: ([ExpressionNode]) -> ExpressionNode.Kind
    ) -> ExpressionNode {
        parts.count == 1
            ? parts[0] : ExpressionNode(kind(parts), at: parts[0].range.joined(with: parts[parts.count - 1].range))
    }

    private mutating func unary() throws(ExpressionError) -> ExpressionNode {
        let start = token.range
        guard try take(.not) else { return try postfix() }
        try descend(at: start)
        let operand = try unary()
        depth -= 1
        return ExpressionNode(.not(operand), at: text.range(start).joined(with: operand.range))
    }

    // MARK: values

    private mutating func postfix() throws(ExpressionError) -> ExpressionNode {
        let start = token.range
        if case .name(let name) = token.kind, Self.keywords[name] == nil {
            try advance()
            if token.kind == .symbol(.openParen) { return try accessed(try call(name, at: start)) }
            let (path, end) = try accessors(after: text.range(start))
            let range = text.range(start)
            return ExpressionNode(
                .reference(ExpressionNode.Name(text: name, range: range), path), at: range.joined(with: end))
        }
        return try accessed(try primary())
    }

    private mutating func accessed(_ value: ExpressionNode) throws(ExpressionError) -> ExpressionNode {
        let (path, end) = try accessors(after: value.range)
        return path.isEmpty ? value : ExpressionNode(.access(value, path), at: value.range.joined(with: end))
    }

    /// Reads the accessors of a value, and returns them with the place where they end.
    private mutating func accessors(
        after range: SourceRange
    ) throws(ExpressionError) -> ([ExpressionNode.Accessor], SourceRange) {
        var path: [ExpressionNode.Accessor] = []
        var end = range
        while true {
            let start = token.range
            if token.kind == .symbol(.dot) {
                // The lexer is past the dot, where a name may begin with a digit.
                if let member = lexer.memberName(), case .name(let name) = member.kind {
                    end = text.range(member.range)
                    path.append(.field(ExpressionNode.Name(text: name, range: end)))
                    try advance()
                    continue
                }
                try advance()
                guard token.kind == .symbol(.star) else { throw missingMember(at: start) }
                end = text.range(token.range)
                path.append(.every(end))
                try advance()
            } else if try take(.openBracket) {
                try descend(at: start)
                let index = try disjunction()
                depth -= 1
                end = text.range(token.range)
                try close(.closeBracket, opened: start)
                if case .literal(.string(let name)) = index.kind {
                    path.append(.field(ExpressionNode.Name(text: name, range: index.range)))
                } else {
                    path.append(.index(index))
                }
            } else {
                return (path, end)
            }
        }
    }

    private mutating func call(_ name: String, at start: Range<Int>) throws(ExpressionError) -> ExpressionNode {
        guard let function = ExpressionFunction(rawValue: name) else { throw unknownFunction(name, at: start) }
        let (arguments, end) = try list(until: .closeParen)
        let range = text.range(start).joined(with: end)
        guard function.arity.contains(arguments.count) else {
            throw wrongCount(of: arguments.count, for: function, at: range)
        }
        if function.status != nil { usesStatus = true }
        return ExpressionNode(.call(function, arguments), at: range)
    }

    /// Reads from an opening bracket to the closing one.
    private mutating func list(
        until close: ExpressionLexer.Symbol
    ) throws(ExpressionError) -> ([ExpressionNode], SourceRange) {
        let start = token.range
        try advance()
        try descend(at: start)
        var elements: [ExpressionNode] = []
        if token.kind != .symbol(close) {
            repeat { elements.append(try disjunction()) } while try take(.comma)
        }
        depth -= 1
        let end = text.range(token.range)
        try self.close(close, opened: start)
        return (elements, end)
    }

    private static let keywords: [String: Value] = ["true": .bool(true), "false": .bool(false), "null": .null]

    private mutating func primary() throws(ExpressionError) -> ExpressionNode {
        let start = token.range
        let range = text.range(start)
        switch token.kind {
        case .int(let number):
            try advance()
            return ExpressionNode(.literal(.int(number)), at: range)
        case .text(let string):
            try advance()
            return ExpressionNode(.literal(.string(string)), at: range)
        case .name(let name):
            try advance()
            return ExpressionNode(.literal(Self.keywords[name] ?? .null), at: range)
        case .symbol(.openBracket):
            let (elements, end) = try list(until: .closeBracket)
            return ExpressionNode(.list(elements), at: range.joined(with: end))
        case .symbol(.openParen):
            try advance()
            try descend(at: start)
            let inner = try disjunction()
            depth -= 1
            let end = text.range(token.range)
            try close(.closeParen, opened: start)
            return ExpressionNode(inner.kind, at: range.joined(with: end))
        case .end, .symbol:
            throw missingValue()
        }
    }

    // MARK: tokens

    private mutating func advance() throws(ExpressionError) { token = try lexer.next() }

    private mutating func take(_ symbol: ExpressionLexer.Symbol) throws(ExpressionError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    private mutating func close(
        _ symbol: ExpressionLexer.Symbol, opened: Range<Int>
    ) throws(ExpressionError) {
        guard try !take(symbol) else { return }
        throw unclosed(symbol, opened: opened)
    }

    private mutating func descend(at place: Range<Int>) throws(ExpressionError) {
        depth += 1
        guard depth > Self.depthLimit else { return }
        throw ExpressionError(
            "the expression is nested deeper than \(Self.depthLimit) levels", at: text.range(place),
            fix: .init("let a step compute it, and read its output"))
    }
}

// Errors about expected parts that are missing.
extension ExpressionParser {
    /// Words of other languages in place of an operator.
    private static let operatorWords = [
        "and": "&&", "AND": "&&", "or": "||", "OR": "||", "eq": "==", "is": "==", "ne": "!=", "lt": "<", "gt": ">",
        "le": "<=", "ge": ">=", "else": "??",
    ]

    /// Functions of other tools, in lower case.
    private static let foreignFunctions = [
        "length": "len", "size": "len", "count": "len", "tojson": "toJSON", "fromjson": "fromJSON",
        "hasprefix": "startsWith", "hassuffix": "endsWith", "in": "contains", "printf": "format", "concat": "format",
        "failed": "failure", "succeeded": "success", "canceled": "cancelled", "uniq": "unique", "distinct": "unique",
        "add": "sum", "json": "toJSON", "wildcard": "glob", "fileset": "glob", "files": "glob", "ternary": "if",
        "iif": "if", "cond": "if", "choose": "if", "lowercase": "lower", "tolower": "lower", "downcase": "lower",
        "uppercase": "upper", "toupper": "upper", "upcase": "upper", "match": "matches", "regex": "matches",
        "subst": "replace", "replaceall": "replace", "sub": "replace", "gsub": "replace", "seq": "range",
        "path_exists": "exists", "fileexists": "exists", "splitlist": "split", "splitlines": "split",
    ]

    func unexpected(after value: ExpressionNode) -> ExpressionError {
        let range = text.range(current.range)
        switch current.kind {
        case .name("not"):
            return ExpressionError(
                "`not` is not an operator", at: range,
                fix: text.replacing(current.range, by: "!", "\"not\" is `!`"))
        case .name(let word):
            if let symbol = Self.operatorWords[word] {
                return ExpressionError(
                    "`\(word)` is not an operator", at: range,
                    fix: text.replacing(current.range, by: symbol))
            }
            if word == "in" || word == "contains" {
                return ExpressionError(
                    "`\(word)` is not an operator", at: range,
                    fix: .init("write `contains(list, value)`"))
            }
            if case .reference(let name, let path) = value.kind, path.isEmpty, name.text == "not" {
                return ExpressionError(
                    "`not` is not an operator", at: name.range,
                    fix: .init("write `!`", edits: [.init(range: name.range, replacement: "!")]))
            }
        case .symbol(.closeParen), .symbol(.closeBracket):
            return ExpressionError(
                "there is no opening bracket for this one", at: range, fix: .init("remove it, or open one before"))
        default: break
        }
        return ExpressionError(
            "an operator is missing before \(found)", at: range,
            fix: .init("join the two by an operator such as `==` or `&&`"))
    }

    func missingValue() -> ExpressionError {
        if current.kind == .end {
            return ExpressionError(
                "a value is missing at the end",
                at: text.range(current.range.lowerBound - 1..<current.range.lowerBound),
                fix: .init("write a value, such as a name or a text in single quotes"))
        }
        return ExpressionError(
            "a value is missing before \(found)", at: text.range(current.range),
            fix: .init("write a value, such as a name or a text in single quotes"))
    }

    func missingMember(at dot: Range<Int>) -> ExpressionError {
        ExpressionError(
            "a name is missing after the dot", at: text.range(dot),
            fix: .init("write a name, or `*` for every element"))
    }

    func unclosed(_ symbol: ExpressionLexer.Symbol, opened: Range<Int>) -> ExpressionError {
        let note = Diagnostic.Note("it belongs to this one", at: text.range(opened))
        if current.kind == .end {
            return ExpressionError(
                "`\(symbol.rawValue)` is missing for this bracket", at: text.range(opened),
                fix: .init("close it with `\(symbol.rawValue)`"))
        }
        return ExpressionError(
            "expected `\(symbol.rawValue)` before \(found)", at: text.range(current.range), notes: [note],
            fix: .init("close the bracket, or join the two values by an operator"))
    }

    func unknownFunction(_ name: String, at range: Range<Int>) -> ExpressionError {
        let names = ExpressionFunction.allCases.map(\.rawValue)
        let word = Self.foreignFunctions[name.lowercased()] ?? Suggestion.nearest(to: name, among: names)
        return ExpressionError(
            "unknown function \(Phrase.quoted(name))", at: text.range(range), code: .unknownName,
            notes: word == nil ? [.init("the functions are \(names.joined(separator: ", "))")] : [],
            fix: word.map { text.replacing(range, by: $0) })
    }

    func wrongCount(of found: Int, for function: ExpressionFunction, at range: SourceRange) -> ExpressionError {
        let (least, most) = (function.arity.lowerBound, function.arity.upperBound)
        let wanted = least == most ? least.counted("argument") : "at least \(least.counted("argument"))"
        return ExpressionError(
            """
            `\(function.rawValue)` takes \(found > most && least != most ? "at most \(most) arguments" : wanted), \
            found \(found)
            """,
            at: range, fix: .init("write it as in `\(function.usage)`"))
    }

    /// The token where reading stopped, for messages.
    private var found: String {
        current.kind == .end ? "the end" : Phrase.quoted(text.string(current.range))
    }
}

extension ExpressionFunction {
    /// An example of a call.
    var usage: String {
        switch self {
        case .contains: "contains(params.list, 'item')"
        case .startsWith: "startsWith(env.REF, 'release/')"
        case .endsWith: "endsWith(params.file, '.zip')"
        case .matches: "matches(params.tag, '^v[0-9]+$')"
        case .format: "format('{0}-{1}', params.a, params.b)"
        case .join: "join(params.list, ',')"
        case .split: "split(params.text, ',')"
        case .replace: "replace(params.text, '/', '-')"
        case .lower, .upper: "\(rawValue)(params.text)"
        case .range: "range(0, 3)"
        case .len: "len(params.list)"
        case .sum: "sum(steps.a.outputs.sizes)"
        case .unique: "unique(params.list)"
        case .fromJSON: "fromJSON(steps.a.outputs.text)"
        case .toJSON: "toJSON(params.list)"
        case .hashFiles: "hashFiles('src/*.c')"
        case .glob: "glob('src/**/*.c')"
        case .exists: "exists('go.mod')"
        case .if: "if(params.fast, '-O3', '-O0')"
        case .success, .failure, .always, .cancelled: "\(rawValue)()"
        }
    }
}
