internal import Basics
internal import Syntax

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
        case .format: return .string(try format(arguments))
        case .join:
            let separator = try text(arguments[1])
            return .string(try list(arguments[0]).map(\.text).joined(separator: separator))
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
        // Above, or where only one of its values is looked at.
        case .success, .failure, .always, .cancelled, .if: return .null
        }
    }

    private func text(_ node: ExpressionNode) throws(EvaluationError) -> String {
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

    /// `{0}` is the argument after the pattern; `{{` and `}}` are braces.
    private func format(_ arguments: [ExpressionNode]) throws(EvaluationError) -> String {
        let pattern = try text(arguments[0])
        var values: [String] = []
        for argument in arguments.dropFirst() { values.append(try present(argument).text) }
        do throws(FormatPattern.SyntaxError) {
            return try FormatPattern.fill(pattern, with: values)
        } catch {
            throw EvaluationError(error.message, at: arguments[0].range)
        }
    }
}

extension String {
    /// Byte for byte, unlike `contains`, for which differently spelt letters may be equal. O(length of both), whatever
    /// they hold (Knuth, Morris and Pratt).
    fileprivate func hasPart(_ part: String) -> Bool {
        let part = Array(part.utf8)
        guard !part.isEmpty else { return true }
        // Per position the length of the longest start of `part` that ends there.
        var borders = [Int](repeating: 0, count: part.count)
        var matched = 0
        for index in 1..<max(part.count, 1) {
            while matched > 0, part[index] != part[matched] { matched = borders[matched - 1] }
            if part[index] == part[matched] { matched += 1 }
            borders[index] = matched
        }
        matched = 0
        for byte in utf8 {
            while matched > 0, byte != part[matched] { matched = borders[matched - 1] }
            if byte == part[matched] { matched += 1 }
            if matched == part.count { return true }
        }
        return false
    }
}
