internal import Planning
internal import Processes
internal import Syntax
internal import Workflow

/// The names that the expressions of one row may use: a step's, a group's, or those of a group's outputs, which see
/// its members.
@EventLoopActor
struct RowScope: ExpressionScope {
    let context: RunContext
    let row: PlanIndex
    /// True if the members of the row itself are visible.
    var seesMembers = false
    /// True if a group's own `vars` are visible: not in a key that belongs to the enclosing level.
    var seesOwn = true
    /// True if one of `vars` is being made.
    var isShared = false
    /// True if the expression is at the top of the body that the row uses.
    var isInside = false

    private var isInBody: Bool { isInside || seesMembers || isShared }

    func value(of name: String) -> Value? {
        switch name {
        case "params":
            context.parameters(inside: context.plan.user(around: row, isInside: isInBody), of: isInBody ? nil : row)
        case "args": context.arguments(of: row)
        case "env": environment
        default:
            context.plan.variables(of: row, isInside: isInBody).last { $0.name == name }?.typedValue
        }
    }

    /// The variables at the top of the file; while those are being set, the enclosing ones.
    private var environment: Value {
        guard let user = context.plan.fileUser(around: row, isInside: isInBody) else {
            if isShared { return context.sharedEnvironment }
            return row == .root && !seesMembers ? context.inherited : context.environment
        }
        return context.variables(
            ofFileUsedBy: user, isBeingSet: isInside && user == row, isShared: isShared)
    }

    func shared(_ name: String) throws(EvaluationError) -> Value? {
        let sees = context.plan.use(of: row) == nil ? seesOwn : isInBody
        guard let key = context.sharedKey(of: name, seenFrom: row, seesOwn: sees) else { return nil }
        return try context.value(of: key)
    }

    func run(_ field: String?) -> Value? { context.run(field, seenFrom: row) }

    func step(_ id: String, _ field: String?) -> Value? {
        switch context.find(id, seenFrom: row, seesMembers: seesMembers) {
        case .row(let found): context.result(of: found, field)
        case .leftOut(let definition): context.result(ofLeftOut: definition, field)
        case nil: nil
        }
    }

    func previous(_ field: String?) -> Value? {
        context.plan.previous(of: row).flatMap { context.result(of: $0, field) }
    }

    func status(_ function: StatusFunction) -> Bool { context.state.status(function, of: row) }

    /// Paths are relative to the folder of the file that the row is written in, where its steps run.
    func files(matching patterns: [String]) throws(EvaluationError) -> [String] {
        let folder = folder
        guard case .list(let paths) = try answer(to: .list(Self.paths(patterns, in: folder)), "glob") else { return [] }
        guard !folder.isEmpty else { return paths.map(\.text) }
        return paths.map { $0.text.hasPrefix("\(folder)/") ? String($0.text.dropFirst(folder.count + 1)) : $0.text }
    }

    func exists(_ path: String) throws(EvaluationError) -> Bool {
        let path = folder.isEmpty ? path : RelativePath.joined(folder, path)
        return try answer(to: .exists(path), "exists") == .bool(true)
    }

    func hash(files patterns: [String]) throws(EvaluationError) -> String {
        try answer(to: .hash(Self.paths(patterns, in: folder)), "hashFiles").text
    }

    /// The folder of the file that the row is written in, relative to that of the workflow's first file; empty for
    /// that folder itself.
    private var folder: String {
        let user = context.plan.fileUser(around: row, isInside: isInBody)
        return user.flatMap(context.plan.use)?.folder ?? ""
    }

    private static func paths(_ patterns: [String], in folder: String) -> [String] {
        folder.isEmpty ? patterns : patterns.map { RelativePath.joined(folder, $0) }
    }

    private func answer(to question: FileQuestion, _ function: String) throws(EvaluationError) -> Value {
        let message: String
        let place = try context.folder(of: row, isInside: isInBody) ?? "."
        switch context.pending.files.answer(to: PlacedQuestion(question, in: place)) {
        case .success(let answer)?: return answer
        case .failure(let error)?: message = "`\(function)` cannot read `\(error.path)`: \(error.reason)"
        // Never shown: an evaluation without an answer is repeated.
        case nil: message = "the answer is still to be found"
        }
        let range = context.plan.workflow.range(of: context.plan.nodes[row].definition)
        throw EvaluationError(message, at: range)
    }

    /// Returns standard output byte for byte if a template is nothing but its name; nil for any other.
    func output(namedBy template: Template) -> [UInt8]? {
        guard case .parsed(let parsed) = template, case .reference(let name, let path)? = parsed.expression?.root.kind
        else { return nil }
        let fields = path.compactMap { if case .field(let field) = $0 { field.text } else { nil } }
        guard fields.count == path.count, fields.last == "stdout" else { return nil }
        var source: PlanIndex?
        switch (name.text, fields.count) {
        case ("previous", 1): source = context.plan.previous(of: row)
        case ("steps", 2):
            if case .row(let found)? = context.find(fields[0], seenFrom: row, seesMembers: seesMembers) {
                source = found
            }
        default: break
        }
        return source.flatMap { context.state.result(of: $0).standardOutput }
    }
}
