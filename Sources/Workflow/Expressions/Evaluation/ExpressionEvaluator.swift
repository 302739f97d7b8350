internal import Syntax

/// Walks an expression. An absent value is nil until something needs it; what is not needed is not evaluated.
struct ExpressionEvaluator<Scope: ExpressionScope> {
    let scope: Scope

    /// The value of a part that has to have one.
    func present(_ node: ExpressionNode) throws(EvaluationError) -> Value {
        if let value = try value(node) { return value }
        throw EvaluationError("this has no value here; a default can be given with `??`", at: node.range)
    }

    func value(_ node: ExpressionNode) throws(EvaluationError) -> Value? {
        switch node.kind {
        case .literal(let value): return value
        case .list(let elements):
            var values: [Value] = []
            for element in elements { values.append(try present(element)) }
            return .list(values)
        case .reference(let name, let path): return try reference(name, path)
        case .access(let base, let path):
            guard let base = try value(base) else { return nil }
            return try walk(base, path[...])
        case .call(.if, let arguments): return try value(try bool(arguments[0]) ? arguments[1] : arguments[2])
        case .call(let function, let arguments): return try call(function, arguments, at: node.range)
        case .not(let operand): return .bool(!(try bool(operand)))
        case .comparison(let comparison, let left, let right):
            return .bool(try compare(left, comparison, right, at: node.range))
        case .all(let parts):
            for part in parts where !(try bool(part)) { return .bool(false) }
            return .bool(true)
        case .any(let parts):
            for part in parts where try bool(part) { return .bool(true) }
            return .bool(false)
        case .firstPresent(let parts): return try firstPresent(parts)
        }
    }

    func bool(_ node: ExpressionNode) throws(EvaluationError) -> Bool {
        let value = try present(node)
        guard case .bool(let bool) = value else {
            throw EvaluationError("expected true or false, found \(value.described)", at: node.range)
        }
        return bool
    }

    // MARK: reading

    private func reference(
        _ name: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]
    ) throws(EvaluationError) -> Value? {
        var path = path[...]
        let value: Value?
        switch name.text {
        case "steps": value = takeField(from: &path).flatMap { scope.step($0, takeField(from: &path)) }
        case "previous": value = scope.previous(takeField(from: &path))
        case "run": value = scope.run(takeField(from: &path))
        case "vars":
            guard let field = takeField(from: &path) else { return nil }
            value = try scope.shared(field)
        default: value = scope.value(of: name.text)
        }
        guard let value else { return nil }
        return try walk(value, path)
    }

    /// The name that comes next; nil where something else does.
    private func takeField(from path: inout ArraySlice<ExpressionNode.Accessor>) -> String? {
        guard case .field(let name)? = path.first else { return nil }
        path.removeFirst()
        return name.text
    }

    private func walk(
        _ value: Value, _ path: ArraySlice<ExpressionNode.Accessor>
    ) throws(EvaluationError) -> Value? {
        var value = value
        for position in path.indices {
            if value == .null { return nil }
            switch path[position] {
            case .field(let name):
                guard let field = try value.field(name.text, at: name.range) else { return nil }
                value = field
            case .index(let index):
                guard let element = try element(of: value, index) else { return nil }
                value = element
            case .every(let range):
                guard case .list(let elements) = value else {
                    throw EvaluationError("`.*` takes a list, found \(value.described)", at: range)
                }
                let rest = path[(position + 1)...]
                var found: [Value] = []
                found.reserveCapacity(elements.count)
                for element in elements { found.append(try walk(element, rest) ?? .null) }
                return .list(found)
            }
        }
        return value
    }

    private func element(of value: Value, _ index: ExpressionNode) throws(EvaluationError) -> Value? {
        switch (value, try present(index)) {
        case (.list(let elements), .int(let number)):
            guard number >= 0 else {
                throw EvaluationError("an index counts from 0, found \(number)", at: index.range)
            }
            return number < elements.count ? elements[number] : nil
        case (.object, .string(let name)): return try value.field(name, at: index.range)
        case (let value, let key):
            throw EvaluationError("\(value.described) has no index that is \(key.described)", at: index.range)
        }
    }

    // MARK: operators

    /// The first value that is neither absent nor null. In a list, a default that is not a list takes the place of each
    /// element that is missing.
    private func firstPresent(_ parts: [ExpressionNode]) throws(EvaluationError) -> Value? {
        var lists: [[Value]] = []
        var result: Value?
        for part in parts {
            guard let value = try value(part), value != .null else { continue }
            if case .list(let elements) = value, elements.contains(.null) {
                lists.append(elements)
            } else {
                result = value
                break
            }
        }
        for elements in lists.reversed() {
            if let filling = result, !filling.isList {
                result = .list(elements.map { $0 == .null ? filling : $0 })
            } else {
                result = .list(elements)
            }
        }
        return result
    }

    private func compare(
        _ left: ExpressionNode, _ comparison: ExpressionNode.Comparison, _ right: ExpressionNode, at range: SourceRange
    ) throws(EvaluationError) -> Bool {
        // Only beside a written `null` does an absent value count as one.
        if left.isNull || right.isNull, !comparison.isOrder {
            let (first, second) = (try value(left) ?? .null, try value(right) ?? .null)
            let isEqual = first == .null && second == .null
            return (comparison == .equal) == isEqual
        }
        let (first, second) = (try present(left), try present(right))
        if !comparison.isOrder {
            guard first == .null || second == .null || first.isComparable(to: second) else {
                throw EvaluationError(
                    "cannot compare \(first.described) with \(second.described)", at: range)
            }
            return (comparison == .equal) == first.isEqual(to: second)
        }
        guard let order = first.order(against: second) else {
            throw EvaluationError("cannot order \(first.described) and \(second.described)", at: range)
        }
        return switch comparison {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
    }
}

extension ExpressionNode {
    /// Whether it is the word `null`.
    package var isNull: Bool {
        if case .literal(.null) = kind { true } else { false }
    }
}
