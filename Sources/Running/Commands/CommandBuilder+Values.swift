internal import Planning
internal import Processes
internal import RunLog
internal import Workflow

// What expressions come to in a command: words, texts, bytes, and `env`.
extension CommandBuilder {
    /// One word of a list; where it is one expression whose value is a list, a word for each element.
    func append(_ template: Template, to words: inout [String], in scope: RowScope) throws(StepError) {
        guard case .parsed(let parsed) = template, let expression = parsed.expression else {
            return words.append(try text(template, in: scope))
        }
        let value: Value
        do {
            value = try expression.evaluate(in: scope)
        } catch {
            throw failure(error)
        }
        guard case .list(let elements) = value else { return words.append(try withoutNUL(value.text)) }
        for (index, element) in elements.enumerated() {
            guard element != .null else {
                throw StepError("element \(index + 1) of `\(expression.text)` has no value", kind: .expression)
            }
            words.append(try withoutNUL(element.text))
        }
    }

    /// Refuses a NUL, which neither a word nor a variable can hold.
    func text(_ template: Template, in scope: RowScope) throws(StepError) -> String {
        if let literal = template.literal { return literal }
        let text: String
        do {
            text = try template.evaluate(in: scope)
        } catch {
            throw failure(error)
        }
        return try withoutNUL(text)
    }

    func withoutNUL(_ text: String) throws(StepError) -> String {
        guard !text.utf8.contains(0) else {
            throw StepError("a value has a NUL character, which no argument or variable can hold", kind: .expression)
        }
        return text
    }

    /// A lone `stdout` passes on what was written byte for byte, whether or not it is UTF-8.
    func bytes(_ template: Template, in row: PlanIndex) throws(StepError) -> [UInt8] {
        if let output = RowScope(context: context, row: row).output(namedBy: template) { return output }
        do {
            return Array(try template.evaluate(in: RowScope(context: context, row: row)).utf8)
        } catch {
            throw failure(error)
        }
    }

    /// An expression without a value, because of one of `vars` or by itself.
    func failure(_ error: EvaluationError) -> StepError {
        var failure = StepError(error.message, kind: .expression)
        failure.failure = context.pending.failure
        return failure
    }

    /// `env` in expressions: the variables at the top of the workflow.
    /// With `isShared` without those that read `vars`.
    func variables(isShared: Bool = false) -> Value {
        let policy = plan.environmentPolicy
        let top = try? isShared ? sharedSurroundings(of: .root, policy) : memberSurroundings(of: .root, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// The same at the top of a file that a group uses; while it is being set, what is around the group.
    func variables(ofFileUsedBy user: PlanIndex, isBeingSet: Bool, isShared: Bool) -> Value {
        let policy = plan.environmentPolicy(inside: plan.use(of: user))
        let row = isBeingSet ? plan.parent(of: user) : user
        let top = try? isShared ? sharedSurroundings(of: row, policy) : memberSurroundings(of: row, policy)
        return Self.object(top?.environment ?? environments[policy])
    }

    /// `env` in the expressions of the top of the workflow itself.
    func inheritedVariables() -> Value { Self.object(environments[plan.environmentPolicy]) }

    private static func object(_ block: EnvironmentBlock) -> Value {
        .object(block.variables.map { Value.Field(name: $0.name, value: .string($0.value)) })
    }
}
