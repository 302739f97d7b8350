import Syntax
import Workflow

/// The type of a value before the run: its kind, and the reason why it may be missing.
struct ValueType: Sendable {
    indirect enum Kind: Sendable {
        /// Known only in the run, as part of a JSON value. Also used after a finding.
        case any
        case null, bool, int, string
        /// A number, whole or not.
        case number
        /// A text, a number, or true or false.
        case scalar
        /// A text out of a closed set.
        case word([String])
        case list(ValueType)
        case object([Field])
        /// The value of `steps.ID`; a field gets its type when it is read.
        case result(Result)
        /// The declared outputs of a result.
        case outputs(Result)
    }

    struct Field: Sendable {
        let name: String
        let type: ValueType
    }

    /// The end of a step or group, with the facts that are certain for the reader.
    struct Result: Sendable {
        let row: Int
        let facts: ResultFacts
        /// True for one instance of a fan-out.
        var isInstance = false
    }

    let kind: Kind
    /// The reason why the value may be missing, as the text after "because"; nil if it is always present.
    var absence: String?

    init(_ kind: Kind, absence: String? = nil) {
        self.kind = kind
        self.absence = absence
    }

    static let any = ValueType(.any)

    /// The kind in words, as the text after "found".
    var described: String {
        switch kind {
        case .any: "a value"
        case .null: "null"
        case .bool: "true or false"
        case .int: "a whole number"
        case .number: "a number"
        case .scalar: "a text, a number or true or false"
        case .string, .word: "a text"
        case .list: "a list"
        case .object, .result, .outputs: "an object"
        }
    }

    var isAny: Bool {
        if case .any = kind { true } else { false }
    }

    /// True if a value of this kind has an obvious form inside a text.
    var isScalar: Bool {
        switch kind {
        case .list, .object, .result, .outputs: false
        default: true
        }
    }

    /// True if two values can be compared for equality; unknown types are accepted.
    func isComparable(to other: ValueType) -> Bool {
        switch (kind, other.kind) {
        case (.any, _), (_, .any), (.null, _), (_, .null): true
        case (.bool, .bool), (.list, .list): true
        default:
            isNumber && other.isNumber || isText && other.isText
                || !isScalar && !isList && !other.isScalar && !other.isList
        }
    }

    /// True if two values can be ordered.
    func isOrdered(with other: ValueType) -> Bool {
        (isAny || isNumber) && (other.isAny || other.isNumber) || (isAny || isText) && (other.isAny || other.isText)
    }

    var isNumber: Bool {
        switch kind {
        case .int, .number: true
        default: false
        }
    }

    /// True if it may be of several kinds.
    var isMixed: Bool {
        if case .scalar = kind { true } else { false }
    }

    var isText: Bool {
        switch kind {
        case .string, .word: true
        default: false
        }
    }

    var isList: Bool {
        if case .list = kind { true } else { false }
    }

    /// The type of a value that is one or the other; nil if no use of it could be right. The absence is that of
    /// `other`.
    func joined(with other: ValueType) -> ValueType? {
        switch (kind, other.kind) {
        case (.any, _), (_, .any): return ValueType(.any, absence: other.absence)
        case (.null, _): return other
        case (_, .null): return ValueType(kind, absence: other.absence)
        case (.bool, .bool), (.int, .int): return other
        case (.list(let left), .list(let right)):
            guard var element = left.joined(with: right) else { return nil }
            element.absence = left.absence ?? right.absence
            return ValueType(.list(element), absence: other.absence)
        default:
            if isNumber, other.isNumber { return ValueType(.number, absence: other.absence) }
            if isText, other.isText { return ValueType(.string, absence: other.absence) }
            if isScalar, other.isScalar { return ValueType(.scalar, absence: other.absence) }
            return isScalar || other.isScalar || isList || other.isList ? nil : ValueType(.any, absence: other.absence)
        }
    }
}
