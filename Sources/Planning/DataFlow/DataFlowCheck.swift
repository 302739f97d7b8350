import Syntax
import Workflow

/// Checks every expression against what is known before the run: that its names exist, that the results it reads are
/// complete by then, that nothing is missing without a default, and that the types fit.
struct DataFlowCheck {
    /// The place of an expression.
    struct Place {
        let row: Int
        /// True if the variables of the row's own fan-out have values; false for keys that belong to the whole
        /// fan-out.
        var seesOwnVariables = true
        /// In `outputs`: the members of the row have ended, and the row as a whole has succeeded.
        var readsMembers = false
        /// In a key at the top of a used body, which reads the body's own parameters.
        var isInside = false
        /// In `if`, where status functions are allowed.
        var isCondition = false
        /// In `vars`, whose value is the same for all readers at any time.
        var isShared = false
        /// In a word of a `run` list or a value of `with`, where `args` is allowed.
        var seesArguments = false

        /// True if it is in the body of the row.
        var isInBody: Bool { isInside || readsMembers || isShared }
    }

    let workflow: Workflow
    let names: ScopedNames
    var declared: DeclaredNames
    var knowledge: ResultKnowledge
    private let needs: ResolvedNeeds
    private(set) var findings = FindingList()
    var suggestions = Suggestion()
    /// Steps whose standard output some expression reads.
    var standardOutputReads: Set<NodeIndex> = []
    var place = Place(row: 0)
    /// Above 0 while an expression is checked only for its type.
    var silence = 0
    /// Types of declared group outputs and of items, by place; nil while they are being computed.
    var types: [TypePlace: ValueType?] = [:]
    private var told: Set<Told> = []

    /// A text of a body that is used several times has a type in each use.
    struct TypePlace: Hashable {
        let row: Int
        let range: SourceRange
    }

    private struct Told: Hashable {
        let range: SourceRange
        let message: String
    }

    init(_ workflow: Workflow, _ needs: ResolvedNeeds, _ names: ScopedNames) {
        self.workflow = workflow
        self.names = names
        self.needs = needs
        declared = DeclaredNames(workflow)
        knowledge = ResultKnowledge(workflow, needs)
    }

    /// True if any row may have an expression; a workflow without pays for nothing more. O(rows).
    static func concerns(_ workflow: Workflow) -> Bool {
        // By row, because copying a node retains everything in it.
        !workflow.uses.isEmpty || workflow.hasComputedSettings
            || workflow.defaults?.workingDirectory?.expressions.isEmpty == false
            || workflow.nodes.indices.contains { row in
                if workflow.nodes[row].settings != nil { return true }
                guard case .arguments(let words) = workflow.nodes[row].body else { return false }
                return words.contains { $0.literal == nil }
            }
    }

    /// Checks all rows, and does so again if results depend on questions that could not be answered at once.
    mutating func check() {
        while true {
            for row in workflow.nodes.indices { check(row) }
            guard knowledge.answer() else { return }
            var next = DataFlowCheck(workflow, needs, names)
            next.knowledge = knowledge
            next.declared = declared
            self = next
        }
    }

    private mutating func check(_ row: Int) {
        place = Place(row: row)
        if case .arguments(let words) = workflow.nodes[row].body {
            place.seesArguments = true
            for word in words { checkWord(word) }
            place.seesArguments = false
        }
        if row == 0 { checkDefaults(workflow.defaults, workflow.parameters) }
        if let use = workflow.use(of: NodeIndex(row)) { check(use) }
        guard let settings = workflow.nodes[row].settings else { return }
        checkSharedValues(settings.sharedValues, of: row)
        checkEnvironment(settings)
        if let input = settings.standardInput { check(input, what: "`stdin`") }
        checkOutputs(settings.outputs, of: row)
        if let condition = settings.condition { check(condition, of: row) }
        place = Place(row: row)
        for requirement in settings.requirements { check(requirement) }
        if let items = settings.fanOut?.items { checkItems(items, of: row) }
        if let label = settings.fanOut?.label { checkLabel(label, of: row) }
        if workflow.hasComputedSettings { checkComputed(settings, of: row) }
    }

    /// Checks the values that a group passes to the body it uses, and the keys at the top of the body.
    private mutating func check(_ use: Use) {
        place = Place(row: use.group.row, seesArguments: true)
        for argument in use.arguments {
            if let parameter = declared.parameter(argument.name, of: use) { check(argument, for: parameter) }
        }
        place = Place(row: use.group.row, isInside: true)
        checkDefaults(use.source == .file ? use.defaults : nil, use.parameters)
        if let settings = use.settings {
            checkEnvironment(settings)
            for requirement in settings.requirements { check(requirement) }
        }
        place = Place(row: use.group.row)
    }

    private mutating func checkDefaults(_ settings: Settings?, _ parameters: [Parameter]) {
        checkDefaults(of: parameters)
        checkFolder(of: settings)
        if let settings, workflow.hasComputedSettings { checkComputed(settings, of: place.row) }
    }

    private mutating func checkFolder(of settings: Settings?) {
        if let folder = settings?.workingDirectory { check(folder, what: "`working-directory`") }
    }

    private mutating func checkEnvironment(_ settings: Settings) {
        for entry in settings.env {
            if let value = entry.value { check(value) }
        }
        checkFolder(of: settings)
    }

    /// Checks a text in which every expression needs a value. With `what`, each of them also has to be a text by
    /// itself.
    mutating func check(_ template: Template, what: String? = nil) {
        guard case .parsed(let parsed) = template else { return }
        for case .expression(let expression) in parsed.parts {
            let type = present(expression.root)
            if let what, !type.isScalar {
                report(
                    .valueType, "\(what) takes a text, found \(type.described)", at: expression.root.range,
                    fix: .init("write `join(\(expression.text), ' ')`, or `toJSON(\(expression.text))`"))
            }
        }
    }

    /// Checks a word of a `run` list: if it is one expression, a list becomes its elements.
    private mutating func checkWord(_ word: Template) {
        guard case .parsed(let parsed) = word, let expression = parsed.expression else { return check(word) }
        guard case .list(let element) = present(expression.root).kind, let absence = element.absence else { return }
        report(
            .possiblyAbsent, "an element of the list may be missing, because \(absence)", at: expression.root.range,
            fix: .init("give a default for each: `\(expression.text) ?? …`"))
    }

    private mutating func checkSharedValues(_ values: [SharedValue], of row: Int) {
        guard !values.isEmpty else { return }
        place = Place(row: row, isShared: true)
        for value in values {
            switch value.source {
            case .literal: break
            case .template(let template): check(template)
            case .command(let command):
                guard case .arguments(let words) = command.body else { continue }
                for word in words { checkWord(word) }
            }
        }
        place = Place(row: row)
    }

    private mutating func checkOutputs(_ outputs: [OutputDeclaration], of row: Int) {
        place = Place(row: row, readsMembers: true)
        for output in outputs {
            if case .expression(let template) = output.source { check(template) }
        }
    }

    private mutating func check(_ condition: Expression, of row: Int) {
        let isOfCopies = workflow.nodes[row].settings?.fanOut?.decidesCopies ?? false
        place = Place(row: row, seesOwnVariables: isOfCopies, isCondition: true)
        checkTruth(of: condition, what: "`if`")
    }

    private mutating func check(_ requirement: Requirement) {
        // A command is checked where it is placed, among `vars`.
        if case .expression(let condition) = requirement.condition {
            checkTruth(of: condition, what: "`if` of `require`")
        }
        if let message = requirement.message { check(message, what: "`message`") }
    }

    private mutating func checkTruth(of condition: Expression, what: String) {
        let found = type(of: condition.root)
        let isPresent = found.absence == nil
        let type = isPresent ? found : present(condition.root)
        if case .bool = type.kind { return }
        guard !type.isAny, isPresent else { return }
        report(
            .valueType, "\(what) takes true or false, found \(type.described)", at: condition.root.range,
            fix: .init(type.isNumber ? "compare it, as in `… > 0`" : "compare it, as in `… == 'value'`"))
    }

    /// Labels are evaluated when the instances are made, which may be before the run.
    private mutating func checkLabel(_ label: Template, of row: Int) {
        place = Place(row: row)
        check(label, what: "`label`")
        let visible = variables(around: row)
        let own = Set(visible.filter { $0.row == row }.map(\.name))
        let others = Set(Self.roots + visible.map(\.name)).subtracting(own)
        for expression in label.expressions {
            // An unknown name has its finding already.
            guard expression.references.contains(where: { others.contains($0.root) }) || expression.asksTheRun else {
                continue
            }
            report(
                .notKnownHere, "`label` reads only \(Phrase.all(own.sorted())), the variables of its own fan-out",
                at: expression.root.range)
        }
    }

    private mutating func checkItems(_ items: Expression, of row: Int) {
        place = Place(row: row, seesOwnVariables: false)
        let type = present(items.root)
        guard case .list(let element) = type.kind else {
            if !type.isAny {
                report(
                    .valueType, "`for-each` takes a list, found \(type.described)", at: items.root.range,
                    fix: type.isText ? .init("write `fromJSON(\(items.text))` if it is the JSON text of one") : nil)
            }
            return
        }
        if let absence = element.absence {
            report(
                .possiblyAbsent, "an item of the list may be missing, because \(absence)", at: items.root.range,
                fix: .init("give a default for each: `\(items.text) ?? …`"))
        }
        switch element.kind {
        case .bool, .null, .list:
            report(
                .valueType, "items of `for-each` are texts, numbers or objects, found \(element.described)",
                at: items.root.range)
        default: break
        }
    }

    // MARK: findings

    mutating func report(
        _ code: DiagnosticCode, _ message: String, at range: SourceRange, notes: [Diagnostic.Note] = [],
        fix: Diagnostic.Fix? = nil
    ) {
        // Aliases make the same text be checked several times.
        guard silence == 0, told.insert(Told(range: range, message: message)).inserted else { return }
        let file = workflow.file
        let notes = aliasNote(at: range) + notes
        findings.add(.error) { Diagnostic(code, message, in: file, at: range, notes: notes, fix: fix) }
    }

    /// Notes the row that has a text by an alias: the anchor comes before the row.
    private func aliasNote(at range: SourceRange) -> [Diagnostic.Note] {
        let row = NodeIndex(place.row)
        let key = workflow.range(of: row)
        guard place.row > 0, !place.isInBody, range.end <= key.start else { return [] }
        return [.init("`\(workflow.path(of: row))` has it by an alias", at: key)]
    }

    /// The type of a part that needs a value; reports one that may have none.
    mutating func present(_ node: ExpressionNode) -> ValueType {
        let type = type(of: node)
        guard let absence = type.absence else { return type }
        let text = Phrase.quoted(workflow.file.text(in: node.range))
        report(
            .possiblyAbsent, "\(text) may have no value, because \(absence)", at: node.range,
            fix: .init("give a default: `\(workflow.file.text(in: node.range)) ?? …`"))
        return ValueType(type.kind)
    }

    /// The type of an expression whose findings are reported at another time.
    mutating func quietly(at place: Place, _ body: (inout Self) -> ValueType) -> ValueType {
        let outer = self.place
        self.place = place
        silence += 1
        defer {
            silence -= 1
            self.place = outer
        }
        return body(&self)
    }
}

// Finds the step that a name means, and checks that it has ended by then.
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

    /// Finds a step or group by its id: as `needs` does, and from a hook also the members of its group.
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
        // The reader, or its enclosing group that is a sibling of the row it reads.
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

    /// The row that can need the result that the place reads: a hook cannot, so its group has to.
    var waiting: Int {
        var (found, next) = (place.row, place.row)
        while next != 0 {
            let parent = workflow.nodes[next].parent.row
            if workflow.nodes[next].hook != nil, parent != 0 { found = parent }
            next = parent
        }
        return found
    }

    /// Reports a result that is read in `vars`, where there is none. Returns true if it did.
    private mutating func reportInShared(_ root: ExpressionNode.Name) -> Bool {
        guard place.isShared else { return false }
        report(
            .notKnownHere, "`vars` cannot read `\(root.text)`: their value is the same before and after any step",
            at: root.range, fix: .init("read the result in the steps that need it"))
        return true
    }

    /// The result of the previous member; the place has to be a member of a sequence itself.
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
