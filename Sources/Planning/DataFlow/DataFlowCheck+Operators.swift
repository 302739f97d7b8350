import Basics
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
        // One finding is enough: once there is a default, the type is reported.
        guard !type.isAny, isPresent else { return }
        report(
            .valueType, "expected true or false, found \(type.described)", at: node.range,
            fix: .init("compare it, as in `… == 'value'`"))
    }

    private mutating func compare(
        _ left: ExpressionNode, _ comparison: ExpressionNode.Comparison, _ right: ExpressionNode, at range: SourceRange
    ) {
        // In a comparison with a literal `null`, absence is the question, not an error.
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

    /// Reports a text that is none of the words that the other side can be: such a comparison always has the same
    /// result.
    private mutating func checkWord(_ node: ExpressionNode, of type: ValueType) {
        guard case .literal(.string(let text)) = node.kind, case .word(let words) = type.kind, !words.contains(text)
        else { return }
        let near = suggestions.nearest(to: text, among: words)
        report(
            .valueType,
            "expected \(Phrase.alternatives(words)), found \(Phrase.quoted(text)), which the other side can never be",
            at: node.range,
            fix: .init(near.map { "write `'\($0)'`" } ?? "compare with a value that the other side can have"))
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

    /// Returns the type of `left ?? right`. If the left side is a list with gaps, a default that is not a list fills
    /// them.
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
        case .startsWith, .endsWith, .matches, .exists:
            expectTexts(types, arguments)
            if function == .matches { checkPattern(arguments[1]) }
            return ValueType(.bool)
        case .split, .replace, .lower, .upper:
            expectTexts(types, arguments)
            if arguments.count > 1 { checkPart(arguments[1]) }
            return function == .split ? ValueType(.list(ValueType(.string))) : ValueType(.string)
        case .range:
            for index in arguments.indices {
                expect(types[index].isNumber, "a whole number", types[index], at: arguments[index])
            }
            checkCount(arguments, at: range)
            return ValueType(.list(ValueType(.int)))
        case .format:
            expect(types[0].isText, "a text", types[0], at: arguments[0])
            checkFormat(arguments)
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
            expectTexts(types, arguments)
            return function == .glob ? ValueType(.list(ValueType(.string))) : ValueType(.string)
        // Handled above, because only one of its values is evaluated.
        case .if: return .any
        }
    }

    private mutating func expectTexts(_ types: [ValueType], _ arguments: [ExpressionNode]) {
        for index in arguments.indices { expect(types[index].isText, "a text", types[index], at: arguments[index]) }
    }

    /// `if(condition, value, other)`: one of two values, which may be missing if either may be.
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

    /// Returns the type of a list's elements, none of which may be missing.
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
}

// Types of `steps.ID` and of its fields.
extension DataFlowCheck {
    static let outcomes = ["success", "failure", "timeout", "cancelled", "skipped", "not-run"]

    /// Returns the type of one field of a result; nil if it has no such field.
    mutating func field(_ name: String, of result: ValueType.Result) -> ValueType? {
        let node = workflow.nodes[result.row]
        let isFanOut = node.settings?.fanOut != nil && !result.isInstance
        switch name {
        case "outcome": return ValueType(.word(Self.outcomes))
        case "outputs": return ValueType(.outputs(result))
        case "items" where isFanOut: return ValueType(.list(ValueType(.result(instance(of: result)))))
        case "exit_code" where node.hasCommand && !isFanOut:
            return ValueType(
                .int, absence: result.facts.contains(.succeeded) ? nil : "`\(node.id)` may not have ended by itself")
        case "stdout" where node.hasReadableOutput && !isFanOut && !result.isInstance:
            standardOutputReads.insert(NodeIndex(result.row))
            return ValueType(.string, absence: result.facts.contains(.started) ? nil : absence(of: result.row))
        case "item" where result.isInstance: return item(of: result.row)
        default:
            guard result.isInstance, let member = names.member(name, of: result.row), workflow.nodes[member].hook == nil
            else { return nil }
            let facts = result.facts.contains(.succeeded) ? knowledge.facts(aboutMember: member) : .ended
            return ValueType(.result(.init(row: member, facts: facts)))
        }
    }

    /// The names of the fields of a result.
    func fieldNames(of result: ValueType.Result) -> [String] {
        let node = workflow.nodes[result.row]
        var fields = ["outputs", "outcome"]
        if result.isInstance { fields.append("item") }
        if node.settings?.fanOut != nil, !result.isInstance {
            fields.append("items")
        } else if node.hasCommand {
            fields.append("exit_code")
            if node.hasReadableOutput, !result.isInstance { fields.append("stdout") }
        }
        if result.isInstance {
            fields += workflow.members(of: NodeIndex(result.row)).filter { workflow[$0].hook == nil }.map {
                workflow[$0].id
            }
        }
        return fields
    }

    /// Returns the type of a declared output; nil if there is none of the name.
    mutating func output(_ name: String, of result: ValueType.Result) -> ValueType? {
        let settings = workflow.nodes[result.row].settings
        guard let output = declared.output(name, of: result.row) else { return nil }
        let type = type(of: output, in: result.row)
        let isThere = result.facts.contains(.succeeded)
        guard settings?.fanOut != nil, !result.isInstance else {
            return ValueType(type.kind, absence: isThere ? nil : absence(of: result.row))
        }
        let facts = instance(of: result).facts
        let element = ValueType(type.kind, absence: facts.contains(.succeeded) ? nil : absence(of: result.row))
        return ValueType(.list(element))
    }

    /// One instance: it succeeded if the whole did, no failure is tolerated and no instance has a condition of its
    /// own.
    private func instance(of result: ValueType.Result) -> ValueType.Result {
        let settings = workflow.nodes[result.row].settings
        let mayBeOtherwise = settings?.continueOnError == true || settings?.fanOut?.decidesCopies == true
        let isSuccess = result.facts.contains(.succeeded) && !mayBeOtherwise
        return ValueType.Result(row: result.row, facts: isSuccess ? result.facts : .ended, isInstance: true)
    }

    private func absence(of row: Int) -> String { "`\(workflow.nodes[row].id)` may not have succeeded" }

    private mutating func type(of output: OutputDeclaration, in row: Int) -> ValueType {
        switch output.source {
        case .file(let kind), .standardOutput(let kind): return Self.type(of: kind)
        case .expression(let template): return type(of: template, at: Place(row: row, readsMembers: true))
        }
    }

    static func type(of kind: OutputDeclaration.Kind) -> ValueType {
        switch kind {
        case .string: ValueType(.string)
        case .int: ValueType(.int)
        case .bool: ValueType(.bool)
        case .list: ValueType(.list(.any))
        case .lines: ValueType(.list(ValueType(.string)))
        case .json: .any
        }
    }

    /// The type of a template: that of its expression if it consists of a single one, otherwise a text.
    mutating func type(of template: Template, at place: Place) -> ValueType {
        guard case .parsed(let parsed) = template, let expression = parsed.expression else {
            return ValueType(.string)
        }
        return remembered(expression, at: place)
    }

    /// The type of one item of a fan-out.
    mutating func item(of row: Int) -> ValueType {
        guard let fanOut = workflow.nodes[row].settings?.fanOut else { return .any }
        guard let items = fanOut.items else {
            let isLoop =
                fanOut.axes.count == 1
                && (fanOut.matrix == nil ? fanOut.instances.first?.variables.count == 1 : fanOut.included.isEmpty)
            if isLoop { return ValueType(.string) }
            return ValueType(.object(fanOut.axes.map { .init(name: $0, type: ValueType(.string)) }))
        }
        let list = remembered(items, at: Place(row: row, seesOwnVariables: false))
        guard case .list(let element) = list.kind else { return .any }
        return ValueType(element.kind)
    }

    /// The type of an expression of another place, computed once; `any` if it is defined by itself.
    private mutating func remembered(_ expression: Expression, at place: Place) -> ValueType {
        let key = TypePlace(row: place.row, range: expression.range)
        if let known = types[key] { return known ?? .any }
        types[key] = .some(nil)
        // Far deeper than any workflow goes; a cycle of needs has its own finding.
        let type = silence > 64 ? .any : quietly(at: place) { $0.type(of: expression.root) }
        types[key] = type
        return type
    }
}

extension WorkflowNode {
    /// True if its output can be kept; output to the terminal cannot.
    fileprivate var hasReadableOutput: Bool { hasCommand && settings?.attributes.isInteractive != true }
}
