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
            case .call(.hashFiles, _), .call(.glob, _): asks = true
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
