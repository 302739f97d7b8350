import Syntax
import Workflow

extension DataFlowCheck {
    mutating func type(of node: ExpressionNode) -> ValueType {
        switch node.kind {
        case .literal(let value): return Self.type(of: value)
        case .list(let elements):
            var element: ValueType?
            for part in elements {
                let type = present(part)
                element = element.map { $0.joined(with: type) ?? .any } ?? type
            }
            return ValueType(.list(element ?? .any))
        case .reference(let name, let path): return reference(name, path)
        case .access(let base, let path): return walk(type(of: base), path[...], from: base.range)
        case .call(let function, let arguments): return call(function, arguments, at: node.range)
        case .not(let operand):
            expectBool(operand)
            return ValueType(.bool)
        case .all(let parts), .any(let parts):
            for part in parts { expectBool(part) }
            return ValueType(.bool)
        case .comparison(let comparison, let left, let right):
            compare(left, comparison, right, at: node.range)
            return ValueType(.bool)
        case .firstPresent(let parts): return firstPresent(parts)
        }
    }

    static func type(of value: Value) -> ValueType {
        switch value {
        case .null: ValueType(.null)
        case .bool: ValueType(.bool)
        case .int: ValueType(.int)
        case .decimal: ValueType(.number)
        case .string: ValueType(.string)
        case .list(let elements):
            ValueType(.list(elements.allSatisfy { type(of: $0).isText } ? ValueType(.string) : .any))
        case .object: .any
        }
    }

    mutating func expectBool(_ node: ExpressionNode) {
        let isPresent = type(of: node).absence == nil
        let type = present(node)
        if case .bool = type.kind { return }
        // One finding is enough: what gives a default learns of the type then.
        guard !type.isAny, isPresent else { return }
        report(
            .valueType, "expected true or false, found \(type.described)", at: node.range,
            fix: .init("compare it, as in `… == 'value'`"))
    }

    private mutating func compare(
        _ left: ExpressionNode, _ comparison: ExpressionNode.Comparison, _ right: ExpressionNode, at range: SourceRange
    ) {
        // Next to a written `null`, whether the value is absent is the question, not an error.
        if left.isNull || right.isNull, !comparison.isOrder {
            _ = type(of: left)
            _ = type(of: right)
            return
        }
        let (first, second) = (present(left), present(right))
        guard comparison.isOrder ? first.isOrdered(with: second) : first.isComparable(to: second) else {
            let message = comparison.isOrder ? "cannot order" : "cannot compare"
            report(
                .valueType, "\(message) \(first.described) and \(second.described)", at: range,
                fix: .init(
                    first.isText && second.isNumber
                        ? "write the number in quotes, or read the text as one with `fromJSON`"
                        : "compare values of one type"))
            return
        }
        if !comparison.isOrder {
            checkWord(left, of: second)
            checkWord(right, of: first)
        }
    }

    /// A text that is none of the words that the other side can be: a comparison that always has one result.
    private mutating func checkWord(_ node: ExpressionNode, of type: ValueType) {
        guard case .literal(.string(let text)) = node.kind, case .word(let words) = type.kind, !words.contains(text)
        else { return }
        let near = suggestions.nearest(to: text, among: words)
        report(
            .valueType, "the other side is never \(Phrase.quoted(text)), it is \(Phrase.alternatives(words))",
            at: node.range, fix: near.map { .init("write `'\($0)'`") })
    }

    private mutating func firstPresent(_ parts: [ExpressionNode]) -> ValueType {
        var types: [ValueType] = []
        for part in parts { types.append(type(of: part)) }
        guard var result = types.popLast() else { return .any }
        for (position, type) in types.enumerated().reversed() {
            guard let joined = Self.coalesced(type, result) else {
                report(
                    .valueType,
                    "the default is \(result.described) and the value before it \(Self.wanted(type))",
                    at: parts[position + 1].range, fix: .init("give a default of the same type"))
                return .any
            }
            result = joined
        }
        return result
    }

    /// `left ?? right`: where the left side is a list with gaps, a default that is not a list fills them.
    private static func coalesced(_ left: ValueType, _ right: ValueType) -> ValueType? {
        if case .list(let element) = left.kind, !right.isList, !right.isAny, left.absence == nil {
            guard let filled = element.joined(with: right) else { return nil }
            return ValueType(.list(filled))
        }
        return left.joined(with: right)
    }

    private static func wanted(_ type: ValueType) -> String {
        if case .list(let element) = type.kind, element.absence != nil { return "a list of \(element.described)" }
        return type.described
    }
}
