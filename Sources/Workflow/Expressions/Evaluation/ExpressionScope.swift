package import Syntax

/// The meaning of the names of an expression at one place of a run.
package protocol ExpressionScope {
    /// `params` and `env` as objects, and the variables of the enclosing fan-outs by their own names; nil if there is
    /// none.
    func value(of name: String) -> Value?
    /// One of `vars`, from the nearest group that has it; nil if there is none.
    func shared(_ name: String) throws(EvaluationError) -> Value?
    /// `run`, or its `field`; nil if it has no value.
    func run(_ field: String?) -> Value?
    /// `steps.ID` as an object of `outputs`, `outcome` and so on, without the fields that have no value. With
    /// `field`, only that field, and nothing else is made. nil if the step is unknown or has not ended.
    func step(_ id: String, _ field: String?) -> Value?
    /// `previous`, in the same form.
    func previous(_ field: String?) -> Value?
    func status(_ function: StatusFunction) -> Bool
    /// The paths of all files that the patterns match, sorted by their bytes.
    func files(matching patterns: [String]) throws(EvaluationError) -> [String]
    /// True if there is a file or folder at a path.
    func exists(_ path: String) throws(EvaluationError) -> Bool
    /// One hash over the names and contents of all files that the patterns match.
    func hash(files patterns: [String]) throws(EvaluationError) -> String
}

/// The reason why an expression has no value. An expression that `check` accepts fails only over values that are not
/// known before the run.
package struct EvaluationError: Error, Hashable {
    package let message: String
    /// The part of the expression that has no value.
    package let range: SourceRange

    package init(_ message: String, at range: SourceRange) {
        self.message = message
        self.range = range
    }
}

extension Expression {
    /// Returns the value of the expression. O(size of the values it reads); values are never read as expressions
    /// again.
    package func evaluate(in scope: some ExpressionScope) throws(EvaluationError) -> Value {
        try ExpressionEvaluator(scope: scope).present(root)
    }
}

extension Template {
    /// Returns the text with the values of its expressions in it.
    package func evaluate(in scope: some ExpressionScope) throws(EvaluationError) -> String {
        switch self {
        case .literal(let text): return text
        case .parsed(let template):
            var text = ""
            for part in template.parts {
                switch part {
                case .text(let literal): text += literal
                case .expression(let expression): text += try expression.evaluate(in: scope).text
                }
            }
            return text
        }
    }

    /// Like `evaluate`, but a single expression keeps the type of its value.
    package func value(in scope: some ExpressionScope) throws(EvaluationError) -> Value {
        if case .parsed(let template) = self, let expression = template.expression {
            return try expression.evaluate(in: scope)
        }
        return .string(try evaluate(in: scope))
    }
}
