import Syntax
import Workflow

/// Holds every expression against what is known before the run: that its names exist, that what it reads has ended by
/// then, that nothing is missing without a default, and that the types fit.
struct DataFlowCheck {
    /// Where an expression stands.
    struct Place {
        let row: Int
        /// Whether the variables of the row's own fan-out have values: not where a key belongs to the whole.
        var seesOwnVariables = true
        /// Of `outputs`: the members of the row have ended, with success on the whole.
        var readsMembers = false
        /// Of a key at the top of a body that is used, where the body's own parameters are read.
        var isInside = false
        /// Of `if`, where status functions may stand.
        var isCondition = false
        /// Of `vars`, whose value is the same for all that read it, whenever that is.
        var isShared = false
        /// Of a word of a `run` list, where `args` may stand, and a list for as many words.
        var isWord = false

        /// Whether it is in the body of the row.
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
    /// Above 0 while an expression is looked at only for its type.
    var silence = 0
    /// Types of declared group outputs and of items, by where they stand; nil while they are being found.
    var types: [TypePlace: ValueType?] = [:]
    private var told: Set<Told> = []

    /// A text of a body that is used several times has a type in each.
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

    /// Whether any row has an expression; a workflow without pays for nothing more. O(rows).
    static func concerns(_ workflow: Workflow) -> Bool {
        // By row: a copy of a node holds on to all that it has.
        !workflow.uses.isEmpty || workflow.defaults?.workingDirectory?.expressions.isEmpty == false
            || workflow.nodes.indices.contains { row in
                if workflow.nodes[row].settings != nil { return true }
                guard case .arguments(let words) = workflow.nodes[row].body else { return false }
                return words.contains { $0.literal == nil }
            }
    }

    /// Looks at all rows, and again if what is said depends on ends that were not known at once.
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
            place.isWord = true
            for word in words { checkWord(word) }
            place.isWord = false
        }
        if row == 0 { checkFolder(of: workflow.defaults) }
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
    }

    // MARK: places

    /// What a group gives to the body that it uses, and what the top of the body says.
    private mutating func check(_ use: Use) {
        place = Place(row: use.group.row)
        for argument in use.arguments {
            if let parameter = declared.parameter(argument.name, of: use) { check(argument, for: parameter) }
        }
        place = Place(row: use.group.row, isInside: true)
        if use.source == .file { checkFolder(of: use.defaults) }
        if let settings = use.settings {
            checkEnvironment(settings)
            for requirement in settings.requirements { check(requirement) }
        }
        place = Place(row: use.group.row)
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

    /// A text, in which every expression needs a value. With `what`, it also has to be a text by itself.
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

    /// A word of a `run` list: where it is one expression, a list becomes its elements.
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
        checkTruth(of: requirement.condition, what: "`if` of `require`")
        check(requirement.message, what: "`message`")
    }

    private mutating func checkTruth(of condition: Expression, what: String) {
        let isPresent = type(of: condition.root).absence == nil
        let type = present(condition.root)
        if case .bool = type.kind { return }
        guard !type.isAny, isPresent else { return }
        report(
            .valueType, "\(what) takes true or false, found \(type.described)", at: condition.root.range,
            fix: .init(type.isNumber ? "compare it, as in `… > 0`" : "compare it, as in `… == 'value'`"))
    }

    /// The names of copies are made with the copies, which may be before the run.
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
        // An alias makes the same text be looked at several times.
        guard silence == 0, told.insert(Told(range: range, message: message)).inserted else { return }
        let file = workflow.file
        let notes = aliasNote(at: range) + notes
        findings.add(.error) { Diagnostic(code, message, in: file, at: range, notes: notes, fix: fix) }
    }

    /// The row that has a text by an alias: its anchor stands before the row.
    private func aliasNote(at range: SourceRange) -> [Diagnostic.Note] {
        let row = NodeIndex(place.row)
        let key = workflow.range(of: row)
        guard place.row > 0, !place.isInBody, range.end <= key.start else { return [] }
        return [.init("`\(workflow.path(of: row))` has it by an alias", at: key)]
    }

    /// The type of a part that has to have a value.
    mutating func present(_ node: ExpressionNode) -> ValueType {
        let type = type(of: node)
        guard let absence = type.absence else { return type }
        let text = Phrase.quoted(workflow.file.text(in: node.range))
        report(
            .possiblyAbsent, "\(text) may have no value, because \(absence)", at: node.range,
            fix: .init("give a default: `\(workflow.file.text(in: node.range)) ?? …`"))
        return ValueType(type.kind)
    }

    /// The type of an expression that has its findings at another time.
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
