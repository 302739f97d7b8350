internal import Syntax

// Functions that make texts or take them apart, and the limits of what they make.
extension ExpressionEvaluator {
    /// `{0}` is the argument after the pattern; `{{` and `}}` are braces.
    func format(_ arguments: [ExpressionNode]) throws(EvaluationError) -> String {
        let pattern = try text(arguments[0])
        var values: [String] = []
        for argument in arguments.dropFirst() { values.append(try present(argument).text) }
        do throws(FormatPattern.SyntaxError) {
            return try FormatPattern.fill(pattern, with: values)
        } catch {
            throw EvaluationError(error.message, at: arguments[0].range)
        }
    }

    func limited(_ text: String, at range: SourceRange) throws(EvaluationError) -> String {
        try checkSize(text.utf8.count, at: range)
        return text
    }

    private func checkSize(_ size: Int, at range: SourceRange) throws(EvaluationError) {
        let limit = ExpressionFunction.textLimit
        guard size > limit else { return }
        throw EvaluationError("the text would have more than \(limit >> 20) MiB", at: range)
    }

    private func checkCount(_ count: Int, at range: SourceRange) throws(EvaluationError) {
        let limit = ExpressionFunction.listLimit
        guard count > limit else { return }
        throw EvaluationError("the list would have more than \(limit) elements", at: range)
    }

    /// A text that is looked for.
    private func part(_ node: ExpressionNode) throws(EvaluationError) -> String {
        let part = try text(node)
        guard part.isEmpty else { return part }
        throw EvaluationError("expected a text of at least one character, found an empty one", at: node.range)
    }

    /// An empty text is an empty list, as for a parameter of type list.
    func split(_ arguments: [ExpressionNode], at range: SourceRange) throws(EvaluationError) -> [Value] {
        let (text, separator) = (Array(try text(arguments[0]).utf8), try part(arguments[1]))
        guard !text.isEmpty else { return [] }
        let cuts = text.offsets(of: separator)
        try checkCount(cuts.count + 1, at: range)
        let starts = [0] + cuts.map { $0 + separator.utf8.count }
        return zip(starts, cuts + [text.count]).map { .string(String(decoding: text[$0..<$1], as: UTF8.self)) }
    }

    func replaced(_ arguments: [ExpressionNode], at range: SourceRange) throws(EvaluationError) -> String {
        let (text, part) = (Array(try text(arguments[0]).utf8), try part(arguments[1]))
        let replacement = Array(try self.text(arguments[2]).utf8)
        let cuts = text.offsets(of: part)
        try checkSize(text.count + cuts.count * (replacement.count - part.utf8.count), at: range)
        var result: [UInt8] = []
        var end = 0
        for cut in cuts {
            result += text[end..<cut]
            result += replacement
            end = cut + part.utf8.count
        }
        return String(decoding: result + text[end...], as: UTF8.self)
    }

    func matches(_ arguments: [ExpressionNode]) throws(EvaluationError) -> Bool {
        let (text, pattern) = (try text(arguments[0]), try text(arguments[1]))
        do throws(PatternError) {
            return try Pattern(pattern).isFound(in: text)
        } catch {
            throw EvaluationError(error.message, at: arguments[1].range)
        }
    }

    /// The whole numbers from the first up to, but without, the second.
    func numbers(_ arguments: [ExpressionNode], at range: SourceRange) throws(EvaluationError) -> [Value] {
        let (start, end) = (try number(arguments[0]), try number(arguments[1]))
        guard start < end else { return [] }
        let (count, overflow) = end.subtractingReportingOverflow(start)
        try checkCount(overflow ? .max : count, at: range)
        return (start..<end).map(Value.int)
    }

    private func number(_ node: ExpressionNode) throws(EvaluationError) -> Int {
        let value = try present(node)
        guard case .int(let number) = value else {
            throw EvaluationError("expected a whole number, found \(value.described)", at: node.range)
        }
        return number
    }
}

extension String {
    /// Compares bytes.
    func hasPart(_ part: String) -> Bool {
        part.isEmpty || !Array(utf8).offsets(of: part, atMost: 1).isEmpty
    }
}

extension [UInt8] {
    /// Returns the offsets at which a text begins that is not empty, from left to right; those that overlap an earlier
    /// one do not count. Compares bytes, unlike `contains`, for which differently spelt letters may be equal. O(length
    /// of both), whatever their content (Knuth, Morris and Pratt).
    fileprivate func offsets(of part: String, atMost limit: Int = .max) -> [Int] {
        let part = Array(part.utf8)
        var offsets: [Int] = []
        // Per position the length of the longest start of `part` that ends there.
        var borders = [Int](repeating: 0, count: part.count)
        var matched = 0
        for index in 1..<part.count {
            while matched > 0, part[index] != part[matched] { matched = borders[matched - 1] }
            if part[index] == part[matched] { matched += 1 }
            borders[index] = matched
        }
        matched = 0
        for (index, byte) in enumerated() {
            while matched > 0, byte != part[matched] { matched = borders[matched - 1] }
            if byte == part[matched] { matched += 1 }
            guard matched == part.count else { continue }
            offsets.append(index + 1 - matched)
            matched = 0
            if offsets.count == limit { break }
        }
        return offsets
    }
}

/// The pattern of `format`: `{0}` is the first value after it; `{{` and `}}` are braces.
package enum FormatPattern {
    package struct SyntaxError: Error {
        package let message: String
    }

    /// Returns the pattern with texts in place of its numbers. O(length of both).
    package static func fill(_ pattern: String, with values: [String]) throws(SyntaxError) -> String {
        var result: [UInt8] = []
        var rest = Array(pattern.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"):
                if rest.first == byte {
                    rest.removeFirst()
                    result.append(byte)
                    continue
                }
                let digits = rest.prefix { $0 &- 0x30 < 10 }
                rest = rest.dropFirst(digits.count)
                guard rest.popFirst() == UInt8(ascii: "}"), !digits.isEmpty else {
                    throw SyntaxError(message: "a `{` in a pattern is followed by a number and `}`, or written twice")
                }
                guard let number = Int(String(decoding: digits, as: UTF8.self)), number < values.count else {
                    throw SyntaxError(
                        message: "the pattern names value \(String(decoding: digits, as: UTF8.self)), counted from 0, "
                            + "and there are \(values.count)")
                }
                result += values[number].utf8
            case UInt8(ascii: "}"):
                guard rest.popFirst() == byte else {
                    throw SyntaxError(message: "a `}` in a pattern that closes nothing is written twice")
                }
                result.append(byte)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
