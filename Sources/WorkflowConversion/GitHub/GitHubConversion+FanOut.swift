internal import Syntax

// The matrix of a job.
extension GitHubConversion {
    func addFanOut(_ fields: inout YAMLFields, to step: inout StepDraft) throws(GitHubProblem) {
        guard let strategy = fields.take("strategy") else { return }
        var inner = YAMLFields(strategy)
        guard let matrix = inner.take("matrix") else {
            step.notes += inner.leftOver(source)
            return
        }
        guard matrix.kind == .mapping else { throw GitHubProblem("the matrix is computed") }
        var axes: [YAMLEntry] = []
        var rules: [YAMLEntry] = []
        for (key, value) in matrix.entries {
            let isRule = key.text == "include" || key.text == "exclude"
            if matrix.count == 1, !isRule, let list = Self.list(value) {
                step.fanOut = [
                    YAMLEntry("for-each", .text(list)), YAMLEntry("as", .text(GitHubExpression.variableName(key.text))),
                ]
                continue
            }
            guard value.kind == .sequence else { throw GitHubProblem("`\(key.text)` of the matrix is computed") }
            if isRule {
                var combinations: [YAMLValue] = []
                for element in value.elements { combinations.append(try Self.combination(element)) }
                rules.append(YAMLEntry(key.text, .list(combinations)))
            } else {
                let name = GitHubExpression.variableName(key.text)
                guard value.elements.allSatisfy({ $0.kind == .scalar && !$0.text.contains("${{") }) else {
                    throw GitHubProblem("the values of `\(key.text)` are more than texts")
                }
                axes.append(YAMLEntry(name, .list(value.elements.map(\.spelled)), comments: source.comment(above: key)))
            }
        }
        if !axes.isEmpty || !rules.isEmpty { step.fanOut.append(YAMLEntry("matrix", .mapping(axes + rules))) }
        if let count = inner.takeText("max-parallel"), Int(count) != nil {
            step.fanOut.append(YAMLEntry("max-parallel", .word(count)))
        }
        // Unless the file says otherwise, GitHub cancels the other instances.
        if inner.takeFlag("fail-fast") ?? true { step.fanOut.append(YAMLEntry("fail-fast", .word("true"))) }
        step.notes += inner.leftOver(source)
    }

    /// A list that an earlier job makes; nil for a value of another kind.
    private static func list(_ node: YAMLNode) -> String? {
        let pieces = GitHubExpression.pieces(of: node.text)
        guard pieces.count == 1, case .expression(let text)? = pieces.first, text.hasPrefix("fromJSON(needs.") else {
            return nil
        }
        return GitHubExpression.translation(of: text).map { "${{ \($0.replacing(" ?? ''", with: " ?? '[]'")) }}" }
    }

    private static func combination(_ node: YAMLNode) throws(GitHubProblem) -> YAMLValue {
        guard node.kind == .mapping, node.entries.allSatisfy({ $0.value.kind == .scalar }) else {
            throw GitHubProblem("a combination of the matrix is more than texts")
        }
        return .inline(node.entries.map { YAMLEntry(GitHubExpression.variableName($0.key.text), $0.value.spelled) })
    }
}
