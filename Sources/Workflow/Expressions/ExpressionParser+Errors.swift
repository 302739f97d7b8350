internal import Syntax

// What a reader expected and did not find.
extension ExpressionParser {
    /// Words of other languages that stand where an operator is wanted.
    private static let operatorWords = [
        "and": "&&", "AND": "&&", "or": "||", "OR": "||", "eq": "==", "is": "==", "ne": "!=", "lt": "<", "gt": ">",
        "le": "<=", "ge": ">=", "else": "??",
    ]

    /// Functions of other tools, in small letters.
    private static let foreignFunctions = [
        "length": "len", "size": "len", "count": "len", "tojson": "toJSON", "fromjson": "fromJSON",
        "hasprefix": "startsWith", "hassuffix": "endsWith", "in": "contains", "printf": "format", "concat": "format",
        "failed": "failure", "succeeded": "success", "canceled": "cancelled", "uniq": "unique", "distinct": "unique",
        "add": "sum", "json": "toJSON", "wildcard": "glob", "fileset": "glob", "files": "glob", "ternary": "if",
        "iif": "if", "cond": "if", "choose": "if",
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
        let wanted = least == most ? Phrase.count(least, "argument") : "at least \(Phrase.count(least, "argument"))"
        return ExpressionError(
            "`\(function.rawValue)` takes \(found > most && least != most ? "at most \(most) arguments" : wanted), found \(found)",
            at: range, fix: .init("write it as in `\(function.usage)`"))
    }

    /// The token where reading stopped, for messages.
    private var found: String {
        current.kind == .end ? "the end" : Phrase.quoted(text.string(current.range))
    }
}

extension ExpressionFunction {
    /// How it is written.
    var usage: String {
        switch self {
        case .contains: "contains(params.list, 'item')"
        case .startsWith: "startsWith(env.REF, 'release/')"
        case .endsWith: "endsWith(params.file, '.zip')"
        case .format: "format('{0}-{1}', params.a, params.b)"
        case .join: "join(params.list, ',')"
        case .len: "len(params.list)"
        case .sum: "sum(steps.a.outputs.sizes)"
        case .unique: "unique(params.list)"
        case .fromJSON: "fromJSON(steps.a.outputs.text)"
        case .toJSON: "toJSON(params.list)"
        case .hashFiles: "hashFiles('src/*.c')"
        case .glob: "glob('src/**/*.c')"
        case .if: "if(params.fast, '-O3', '-O0')"
        case .success, .failure, .always, .cancelled: "\(rawValue)()"
        }
    }
}
