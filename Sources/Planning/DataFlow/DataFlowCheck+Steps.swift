import Syntax
import Workflow

// Which step a name means, and whether it has ended by then.
extension DataFlowCheck {
    mutating func steps(_ root: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) -> ValueType {
        guard !reportInShared(root) else { return .any }
        guard case .field(let id)? = path.first else {
            report(
                .unknownName, "`steps` is followed by an id", at: root.range,
                fix: .init("write `steps.ID.outputs.NAME`"))
            return .any
        }
        guard let found = find(id.text) else {
            unknownStep(id)
            return .any
        }
        guard let result = result(of: found, id, path) else { return .any }
        return walk(ValueType(.result(result)), path.dropFirst(), from: id.range)
    }

    /// A step or group by its id: as `needs` sees it, and from a hook also the members of the group around.
    private func find(_ id: String) -> Int? {
        var scope = place.isInBody ? place.row : workflow.nodes[place.row].parent.row
        while true {
            if let row = names.member(id, of: scope), workflow.nodes[row].hook == nil { return row }
            if scope == 0 || workflow.nodes[scope].isUse { return nil }
            scope = workflow.nodes[scope].parent.row
        }
    }

    private mutating func result(
        of row: Int, _ id: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]
    ) -> ValueType.Result? {
        let scope = workflow.nodes[row].parent.row
        if place.readsMembers, scope == place.row {
            return .init(row: row, facts: knowledge.facts(aboutMember: row))
        }
        if place.isInside {
            reportTooEarly(id)
            return nil
        }
        // The one who reads, or the group around it that is a sibling of what is read.
        var sibling = place.row
        while sibling != 0, workflow.nodes[sibling].parent.row != scope { sibling = workflow.nodes[sibling].parent.row }
        if sibling == row {
            let message =
                row == place.row
                ? "`\(id.text)` cannot read its own result" : "`\(id.text)` has not ended while its members run"
            report(
                .unorderedRead, message, at: id.range,
                fix: .init("read the result of a step that ends before, or use a parameter"))
            return nil
        }
        if sibling != 0, workflow.nodes[sibling].hook != nil { return .init(row: row, facts: .ended) }
        if place.row == 0 {
            reportTooEarly(id)
            return nil
        }
        let facts = knowledge.facts(about: row, for: place.row)
        guard facts.isEmpty else { return .init(row: row, facts: facts) }
        reportUnordered(id, row, path)
        return nil
    }

    private mutating func reportTooEarly(_ id: ExpressionNode.Name) {
        report(
            .unorderedRead, "this is evaluated before any step has run", at: id.range,
            fix: .init("move it to the steps that need `\(id.text)`"))
    }

    private mutating func reportUnordered(
        _ id: ExpressionNode.Name, _ row: Int, _ path: [ExpressionNode.Accessor]
    ) {
        let reader = workflow.nodes[place.row].id
        var isDone = false
        if path.count > 1, case .field(let field) = path[1] { isDone = ["outcome", "exit_code"].contains(field.text) }
        let waiting = waiting
        let name = workflow.nodes[waiting].id
        let entry = isDone ? "needs: { \(id.text): done }" : "needs: [\(id.text)]"
        report(
            .unorderedRead, "`\(id.text)` need not have ended when `\(reader)` starts", at: id.range,
            notes: [.init("`\(id.text)` is declared here", at: workflow.nodes[row].range)],
            fix: knowledge.wouldCloseCycle(waiting, needing: row)
                ? .init(
                    "`\(name)` cannot need `\(id.text)`, which waits for `\(name)`: read the result in a step that starts "
                        + "after both")
                : .init(
                    "add `\(entry)` to `\(name)`",
                    edits: NeedEdits(workflow).adding(id.text, isDone: isDone, to: waiting)))
    }

    /// The row that can need what the row at hand reads: a hook cannot, but the group that it belongs to.
    private var waiting: Int {
        var (found, next) = (place.row, place.row)
        while next != 0 {
            let parent = workflow.nodes[next].parent.row
            if workflow.nodes[next].hook != nil, parent != 0 { found = parent }
            next = parent
        }
        return found
    }

    /// Whether a result is asked for where none can be.
    private mutating func reportInShared(_ root: ExpressionNode.Name) -> Bool {
        guard place.isShared else { return false }
        report(
            .notKnownHere, "`vars` cannot read `\(root.text)`: their value is the same before and after any step",
            at: root.range, fix: .init("read the result in the steps that need it"))
        return true
    }

    /// The member before, where the place is a member of a sequence itself.
    mutating func previous(_ name: ExpressionNode.Name) -> ValueType.Result? {
        guard !reportInShared(name) else { return nil }
        let (row, parent) = (place.row, workflow.nodes[place.row].parent.row)
        guard row != 0, workflow.nodes[parent].settings?.isSequence == true, workflow.nodes[row].hook == nil else {
            report(
                .notKnownHere, "`previous` is known only in the members of a group with `order: sequence`",
                at: name.range, fix: .init("name the step: `steps.ID`"))
            return nil
        }
        guard let predecessor = knowledge.predecessor(of: row) else {
            report(
                .notKnownHere, "`\(workflow.nodes[row].id)` is the first of its sequence, there is no `previous`",
                at: name.range, fix: .init("read a parameter, or a step before the group with `steps.ID`"))
            return nil
        }
        return .init(row: predecessor, facts: knowledge.facts(about: predecessor, for: row))
    }
}
