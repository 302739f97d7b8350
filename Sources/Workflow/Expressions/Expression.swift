package import Syntax

/// The text between `${{` and `}}`, or after `if:`, parsed. Pure: evaluating it touches nothing but its scope.
package struct Expression: Sendable {
    /// As written, without the braces and the surrounding blanks.
    package let text: String
    package let range: SourceRange
    /// The tree of the expression. At most as deep as `ExpressionParser.depthLimit` allows, however long the text is.
    package let root: ExpressionNode
    /// True if it uses a status function. Such a condition replaces the outcome that `needs` requires: the step waits
    /// until all its needs have ended, and then the condition decides.
    package let usesStatus: Bool
}

// The text determines the tree, and the range its place.
extension Expression: Hashable {
    package static func == (left: Expression, right: Expression) -> Bool {
        left.range == right.range && left.text == right.text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(range)
        hasher.combine(text)
    }
}

/// A part of an expression and its place in the file.
///
/// Chains of one operator are one node with many parts, so that the tree is never deeper than its brackets.
package struct ExpressionNode: Sendable {
    package indirect enum Kind: Sendable {
        case literal(Value)
        case list([ExpressionNode])
        /// A name, and the path into its value.
        case reference(Name, [Accessor])
        /// The path into any other value.
        case access(ExpressionNode, [Accessor])
        case call(ExpressionFunction, [ExpressionNode])
        case not(ExpressionNode)
        case comparison(Comparison, ExpressionNode, ExpressionNode)
        /// `&&`
        case all([ExpressionNode])
        /// `||`
        case any([ExpressionNode])
        /// `??`
        case firstPresent([ExpressionNode])
    }

    /// A word of the expression.
    package struct Name: Sendable {
        package let text: String
        package let range: SourceRange

        package init(text: String, range: SourceRange) {
            self.text = text
            self.range = range
        }
    }

    /// One step into a value.
    package enum Accessor: Sendable {
        /// `.name`, or `['name']`.
        case field(Name)
        case index(ExpressionNode)
        /// `.*`: the rest of the path applies to every element.
        case every(SourceRange)
    }

    package enum Comparison: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// True if only numbers and texts can be compared by it.
        package var isOrder: Bool { self != .equal && self != .notEqual }
    }

    package let kind: Kind
    package let range: SourceRange

    init(_ kind: Kind, at range: SourceRange) {
        self.kind = kind
        self.range = range
    }
}

/// A function of expressions, by its name in the file.
package enum ExpressionFunction: String, Sendable, CaseIterable {
    case contains, startsWith, endsWith, matches, format, join, split, replace, lower, upper, len, sum, unique, range
    case fromJSON, toJSON, hashFiles, glob, exists, `if`
    case success, failure, always, cancelled

    /// The accepted number of arguments.
    package var arity: ClosedRange<Int> {
        switch self {
        case .contains, .startsWith, .endsWith, .matches, .join, .split, .range: 2...2
        case .format, .hashFiles, .glob: 1...100
        case .if, .replace: 3...3
        case .len, .sum, .unique, .fromJSON, .toJSON, .lower, .upper, .exists: 1...1
        case .success, .failure, .always, .cancelled: 0...0
        }
    }

    /// The largest size of a text that a function makes, in bytes: nested calls could double it at each level.
    static let textLimit = 16 << 20
    /// The largest number of elements in a list that a function makes; as many copies as a fan-out may have.
    package static let listLimit = 100_000

    /// The question about the run that it asks; nil for a function of its arguments.
    package var status: StatusFunction? { StatusFunction(rawValue: rawValue) }
}

/// A question about the previous steps, for conditions.
package enum StatusFunction: String, Sendable, CaseIterable {
    /// Everything needed ended well, tolerated failures included.
    case success
    /// Something needed failed or timed out.
    case failure
    /// Always true: the step runs in any case.
    case always
    /// The run or an enclosing group is being cancelled.
    case cancelled
}

/// The reason why a text is not an expression: the only finding about it.
package struct ExpressionError: Error {
    package let code: DiagnosticCode
    package let message: String
    package let range: SourceRange
    package let notes: [Diagnostic.Note]
    package let fix: Diagnostic.Fix?

    init(
        _ message: String, at range: SourceRange, code: DiagnosticCode = .expressionSyntax,
        notes: [Diagnostic.Note] = [], fix: Diagnostic.Fix? = nil
    ) {
        self.code = code
        self.message = message
        self.range = range
        self.notes = notes
        self.fix = fix
    }
}

extension ExpressionNode {
    /// Calls the body with this part and every part inside it, outermost first. The recursion is as deep as the
    /// expression's brackets.
    package func visit(_ body: (ExpressionNode) -> Void) {
        body(self)
        switch kind {
        case .literal: break
        case .list(let parts), .call(_, let parts), .all(let parts), .any(let parts), .firstPresent(let parts):
            for part in parts { part.visit(body) }
        case .reference(_, let path): Self.visit(path, body)
        case .access(let base, let path):
            base.visit(body)
            Self.visit(path, body)
        case .not(let operand): operand.visit(body)
        case .comparison(_, let left, let right):
            left.visit(body)
            right.visit(body)
        }
    }

    private static func visit(_ path: [Accessor], _ body: (ExpressionNode) -> Void) {
        for case .index(let index) in path { index.visit(body) }
    }

    /// Visits the same parts, except those that may be left unevaluated: all but the first of `&&`, `||`, `??` and
    /// `if`.
    func visitCertainParts(_ body: (ExpressionNode) -> Void) {
        switch kind {
        case .all(let parts), .any(let parts), .firstPresent(let parts), .call(.if, let parts):
            body(self)
            parts.first?.visitCertainParts(body)
        case .list(let parts), .call(_, let parts):
            body(self)
            for part in parts { part.visitCertainParts(body) }
        case .not(let operand):
            body(self)
            operand.visitCertainParts(body)
        case .comparison(_, let left, let right):
            body(self)
            left.visitCertainParts(body)
            right.visitCertainParts(body)
        case .literal, .reference, .access: visit(body)
        }
    }
}

extension ExpressionNode {
    fileprivate var wantsSuccess: Bool {
        switch kind {
        case .call(let function, _): function.status == .success
        case .all(let parts): parts.contains(where: \.wantsSuccess)
        case .any(let parts): parts.allSatisfy(\.wantsSuccess)
        default: false
        }
    }
}

extension Expression {
    /// The names that it reads, each with the field after it: `steps` with the id, `params` with the parameter.
    package var references: [(root: String, field: String?)] { references { root.visit($0) } }

    /// The names that it reads whenever it is evaluated.
    var certainReferences: [(root: String, field: String?)] { references { root.visitCertainParts($0) } }

    private func references(
        _ visit: ((ExpressionNode) -> Void) -> Void
    ) -> [(root: String, field: String?)] {
        var found: [(root: String, field: String?)] = []
        visit { node in
            guard case .reference(let name, let path) = node.kind else { return }
            var field: String?
            if case .field(let first)? = path.first { field = first.text }
            found.append((name.text, field))
        }
        return found
    }

    /// True if it is false whenever `success()` is.
    package var wantsSuccess: Bool { root.wantsSuccess }

    /// True if it depends on the run or on files, apart from the meaning of its names.
    package var asksTheRun: Bool { usesStatus || asksFiles }

    /// True if it depends on files.
    package var asksFiles: Bool {
        var asks = false
        root.visit { node in
            switch node.kind {
            case .call(.hashFiles, _), .call(.glob, _), .call(.exists, _): asks = true
            default: break
            }
        }
        return asks
    }
}

extension Template {
    /// The expressions in it, in order.
    package var expressions: [Expression] {
        guard case .parsed(let template) = self else { return [] }
        return template.parts.compactMap { if case .expression(let expression) = $0 { expression } else { nil } }
    }
}
