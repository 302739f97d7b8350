package import SourceDiagnostics

/// A part of an expression and its place in the file.
///
/// Chains of one operator are one node with many parts, so that the tree is never deeper than its brackets.
package struct ExpressionNode: Sendable {
    package indirect enum Kind: Sendable {
        case literal(Value)
        case list([ExpressionNode])
        /// A name, and the way into its value.
        case reference(Name, [Accessor])
        /// The way into any other value.
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
        /// `.*`: what follows is asked of every element.
        case every(SourceRange)
    }

    package enum Comparison: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="

        /// Whether only numbers and texts can be compared so.
        package var isOrder: Bool { self != .equal && self != .notEqual }
    }

    package let kind: Kind
    package let range: SourceRange

    init(_ kind: Kind, at range: SourceRange) {
        self.kind = kind
        self.range = range
    }
}
