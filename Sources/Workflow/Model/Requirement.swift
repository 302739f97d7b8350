package import Syntax

/// One entry of `require`: what has to hold where a step or group starts.
package struct Requirement: Sendable {
    package let condition: Expression
    /// What people read where it does not hold.
    package let message: Template
    /// Where the entry stands.
    package let range: SourceRange

    package init(condition: Expression, message: Template, range: SourceRange) {
        self.condition = condition
        self.message = message
        self.range = range
    }
}
