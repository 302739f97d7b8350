import Syntax
import Workflow

extension DataFlowCheck {
    mutating func call(
        _ function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
    ) -> ValueType {
        if function == .if { return choice(arguments) }
        var types: [ValueType] = []
        for argument in arguments { types.append(present(argument)) }
        switch function {
        case .success, .failure, .always, .cancelled:
            if !place.isCondition {
                report(
                    .notKnownHere, "`\(function.rawValue)()` can be asked only in `if`", at: range,
                    fix: .init("read the outcome of a step with `steps.ID.outcome`"))
            }
            return ValueType(.bool)
        case .contains:
            checkContains(types, arguments)
            return ValueType(.bool)
        case .startsWith, .endsWith:
            for index in arguments.indices { expect(types[index].isText, "a text", types[index], at: arguments[index]) }
            return ValueType(.bool)
        case .format:
            checkFormat(types, arguments)
            return ValueType(.string)
        case .join:
            _ = elements(types[0], at: arguments[0])
            expect(types[1].isText, "a text", types[1], at: arguments[1])
            return ValueType(.string)
        case .len:
            expect(types[0].isText || !types[0].isScalar, "a list or a text", types[0], at: arguments[0])
            return ValueType(.int)
        case .sum:
            let element = elements(types[0], at: arguments[0])
            expect(element.isNumber, "a list of numbers", ValueType(.list(element)), at: arguments[0])
            if case .int = element.kind { return ValueType(.int) }
            return ValueType(.number)
        case .unique: return ValueType(.list(elements(types[0], at: arguments[0])))
        case .fromJSON:
            expect(types[0].isText, "a text", types[0], at: arguments[0])
            return .any
        case .toJSON: return ValueType(.string)
        case .hashFiles, .glob:
            for index in arguments.indices { expect(types[index].isText, "a text", types[index], at: arguments[index]) }
            return function == .glob ? ValueType(.list(ValueType(.string))) : ValueType(.string)
        // Above, because it looks at one of its values only.
        case .if: return .any
        }
    }

    /// `if(condition, value, other)`: one of two values, which may be missing as either may be.
    private mutating func choice(_ arguments: [ExpressionNode]) -> ValueType {
        expectBool(arguments[0])
        let (first, second) = (type(of: arguments[1]), type(of: arguments[2]))
        guard var joined = first.joined(with: second) else {
            report(
                .valueType, "one value of `if` is \(first.described), the other \(second.described)",
                at: arguments[2].range, fix: .init("give two values of the same type"))
            return .any
        }
        joined.absence = first.absence ?? second.absence
        return joined
    }

    private mutating func expect(_ isRight: Bool, _ expected: String, _ type: ValueType, at node: ExpressionNode) {
        if isRight || type.isAny { return }
        if case .list(let element) = type.kind, element.isAny { return }
        let found: String
        if case .list(let element) = type.kind, expected.hasPrefix("a list of") {
            found = "one with \(element.described)"
        } else {
            found = type.described
        }
        report(.valueType, "expected \(expected), found \(found)", at: node.range)
    }

    /// What a list holds, none of which may be missing.
    private mutating func elements(_ type: ValueType, at node: ExpressionNode) -> ValueType {
        guard case .list(let element) = type.kind else {
            if !type.isAny { report(.valueType, "expected a list, found \(type.described)", at: node.range) }
            return .any
        }
        guard let absence = element.absence else { return element }
        let text = workflow.file.text(in: node.range)
        report(
            .possiblyAbsent, "an element of \(Phrase.quoted(text)) may have no value, because \(absence)",
            at: node.range, fix: .init("give a default for each: `\(text) ?? …`"))
        return ValueType(element.kind)
    }

    private mutating func checkContains(_ types: [ValueType], _ arguments: [ExpressionNode]) {
        if case .list(let element) = types[0].kind {
            if !element.isComparable(to: types[1]), !(element.isMixed && types[1].isScalar) {
                report(
                    .valueType, "\(types[1].described) is never in a list of \(element.described)",
                    at: arguments[1].range,
                    fix: .init("look for a value of the elements' type"))
            }
            return
        }
        expect(types[0].isText, "a list or a text", types[0], at: arguments[0])
        if types[0].isText { expect(types[1].isText, "a text", types[1], at: arguments[1]) }
    }

    private mutating func checkFormat(_ types: [ValueType], _ arguments: [ExpressionNode]) {
        expect(types[0].isText, "a text", types[0], at: arguments[0])
        guard case .literal(.string(let pattern)) = arguments[0].kind else { return }
        do throws(FormatPattern.SyntaxError) {
            _ = try FormatPattern.fill(pattern, with: arguments.dropFirst().map { _ in "" })
        } catch {
            report(.valueType, error.message, at: arguments[0].range)
        }
    }
}
