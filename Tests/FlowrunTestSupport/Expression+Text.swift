package import Syntax
package import Workflow

extension Expression {
    /// A sound expression out of a text; for models made by hand.
    package init(text: String, range: SourceRange = .beginning) {
        do throws(ExpressionError) {
            self = try ExpressionParser.parse(text, at: range)
        } catch {
            preconditionFailure("`\(text)`: \(error.message)")
        }
    }
}
