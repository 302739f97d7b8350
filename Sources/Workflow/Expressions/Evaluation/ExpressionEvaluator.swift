internal import Basics
internal import Syntax

/// Evaluates an expression. An absent value is nil until something needs it; parts that are not needed are not
/// evaluated.
struct ExpressionEvaluator<Scope: ExpressionScope> {
    let scope: Scope

    /// Returns the value of a part that has to have one; throws if it is absent.
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

    /// Takes the next name from the path; nil if something else comes next.
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

    /// Returns the first value that is neither absent nor null, or null if one is that. In a list, a default that is
    /// not a list replaces each missing element.
    private func firstPresent(_ parts: [ExpressionNode]) throws(EvaluationError) -> Value? {
        var lists: [[Value]] = []
        var result: Value?
        var hasNull = false
        for part in parts {
            guard let value = try value(part) else { continue }
            guard value != .null else {
                hasNull = true
                continue
            }
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
        return result ?? (hasNull ? .null : nil)
    }

    private func compare(
        _ left: ExpressionNode, _ comparison: ExpressionNode.Comparison, _ right: ExpressionNode, at range: SourceRange
    ) throws(EvaluationError) -> Bool {
        // An absent value counts as null only in a comparison with a literal `null`.
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
    /// True if it is the word `null`.
    package var isNull: Bool {
        if case .literal(.null) = kind { true } else { false }
    }
}

extension ExpressionEvaluator {
    func call(
        _ function: ExpressionFunction, _ arguments: [ExpressionNode], at range: SourceRange
    ) throws(EvaluationError) -> Value {
        if let status = function.status { return .bool(scope.status(status)) }
        switch function {
        case .contains: return .bool(try contains(try present(arguments[0]), try present(arguments[1]), at: range))
        case .startsWith: return .bool(try text(arguments[0]).utf8.starts(with: try text(arguments[1]).utf8))
        case .endsWith:
            let (text, end) = (try text(arguments[0]), try text(arguments[1]))
            return .bool(text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8))
        case .matches: return .bool(try matches(arguments))
        case .format: return .string(try limited(try format(arguments), at: range))
        case .join:
            let separator = try text(arguments[1])
            return .string(try limited(try list(arguments[0]).map(\.text).joined(separator: separator), at: range))
        case .split: return .list(try split(arguments, at: range))
        case .replace: return .string(try replaced(arguments, at: range))
        case .lower: return .string(try limited(try text(arguments[0]).lowercased(), at: range))
        case .upper: return .string(try limited(try text(arguments[0]).uppercased(), at: range))
        case .range: return .list(try numbers(arguments, at: range))
        case .len: return .int(try length(of: arguments[0]))
        case .sum: return try sum(arguments[0])
        case .unique:
            var seen: Set<[UInt8]> = []
            return .list(try list(arguments[0]).filter { seen.insert(Array($0.json.utf8)).inserted })
        case .fromJSON: return try fromJSON(arguments[0])
        case .toJSON: return .string(try present(arguments[0]).json)
        case .hashFiles:
            var patterns: [String] = []
            for argument in arguments { patterns.append(try text(argument)) }
            return .string(try scope.hash(files: patterns))
        case .glob:
            var patterns: [String] = []
            for argument in arguments { patterns.append(try text(argument)) }
            return .list(try scope.files(matching: patterns).map(Value.string))
        case .exists:
            let path = try text(arguments[0])
            guard !path.isEmpty else {
                throw EvaluationError("a path has at least one character", at: arguments[0].range)
            }
            return .bool(try scope.exists(path))
        // Handled above, or where only one of the values is evaluated.
        case .success, .failure, .always, .cancelled, .if: return .null
        }
    }

    func text(_ node: ExpressionNode) throws(EvaluationError) -> String {
        let value = try present(node)
        guard case .string(let text) = value else {
            throw EvaluationError("expected a text, found \(value.described)", at: node.range)
        }
        return text
    }

    private func list(_ node: ExpressionNode) throws(EvaluationError) -> [Value] {
        let value = try present(node)
        guard case .list(let elements) = value else {
            throw EvaluationError("expected a list, found \(value.described)", at: node.range)
        }
        return elements
    }

    private func contains(_ whole: Value, _ part: Value, at range: SourceRange) throws(EvaluationError) -> Bool {
        switch (whole, part) {
        case (.list(let elements), _): return elements.contains { $0.isEqual(to: part) }
        case (.string(let text), .string(let part)): return text.hasPart(part)
        default:
            throw EvaluationError(
                "`contains` looks for a value in a list or for a text in a text, found \(whole.described) and "
                    + part.described, at: range)
        }
    }

    private func length(of node: ExpressionNode) throws(EvaluationError) -> Int {
        switch try present(node) {
        case .string(let text): return text.unicodeScalars.count
        case .list(let elements): return elements.count
        case .object(let fields): return fields.count
        case let value: throw EvaluationError("\(value.described) has no length", at: node.range)
        }
    }

    private func sum(_ node: ExpressionNode) throws(EvaluationError) -> Value {
        var (whole, decimal, isWhole) = (0, 0.0, true)
        for element in try list(node) {
            switch element {
            case .int(let number):
                decimal += Double(number)
                let (sum, overflow) = whole.addingReportingOverflow(number)
                if overflow, isWhole { throw EvaluationError("the sum does not fit into 64 bits", at: node.range) }
                whole = sum
            case .decimal(let number):
                decimal += number.approximation
                isWhole = false
            case .null: throw EvaluationError("an element has no value; `??` gives each a default", at: node.range)
            default: throw EvaluationError("`sum` adds numbers, found \(element.described)", at: node.range)
            }
        }
        guard decimal.isFinite else { throw EvaluationError("the sum is too large", at: node.range) }
        return isWhole ? .int(whole) : .decimal(WrittenNumber(decimal))
    }

    private func fromJSON(_ node: ExpressionNode) throws(EvaluationError) -> Value {
        let text = try text(node)
        do throws(JSONError) {
            return try Value(json: text)
        } catch {
            throw EvaluationError("this is not JSON: \(error.message), at byte \(error.offset)", at: node.range)
        }
    }
}
