import Syntax
import Workflow

// Findings about unknown names.
extension DataFlowCheck {
    /// The roots that expressions can read, apart from fan-out variables.
    static let roots = ["params", "vars", "steps", "env", "run", "previous"]

    /// Roots of other tools, each with the flowrun equivalent.
    private static let foreignRoots = [
        "matrix": "axes are read by their own name", "inputs": "`inputs` is `params`",
        "variables": "`variables` is `vars`", "parameters": "`parameters` is `params`",
        "arguments": "`arguments` is `params`",
        "needs": "`needs` is `steps`", "tasks": "`tasks` is `steps`", "jobs": "`jobs` is `steps`",
        "outputs": "an output is read with `steps.ID.outputs.NAME`",
        "github": "variables of the environment are read with `env`, as in `env.GITHUB_SHA`",
        "runner": "variables of the environment are read with `env`, as in `env.RUNNER_OS`",
        "job": "the outcome of a step is read with `steps.ID.outcome`",
        "workflow": "`workflow` is `run`", "each": "a loop variable is read by the name that `as` gives it",
        "strategy": "axes are read by their own name",
    ]
    private static let replacements = [
        "inputs": "params", "variables": "vars", "parameters": "params", "arguments": "params",
        "needs": "steps", "tasks": "steps", "jobs": "steps", "workflow": "run",
    ]

    mutating func unknownRoot(_ name: ExpressionNode.Name, _ path: [ExpressionNode.Accessor]) {
        let text = name.text
        var field: ExpressionNode.Name?
        if case .field(let first)? = path.first { field = first }
        if hasVariable(text) {
            report(
                .notKnownHere,
                "`\(text)` has no value here: the key belongs to the whole fan-out, not to a copy",
                at: name.range, fix: .init("write a value that does not depend on the copy"))
        } else if text == "secrets" || declared.secret(text) != nil {
            report(
                .unknownName, "an expression cannot read secrets", at: name.range,
                fix: .init("list it under the step's `secrets`, and read it as an environment variable"))
        } else if text == "matrix" || text == "each", let field, hasVariable(field.text) {
            let prefix = SourceRange(start: name.range.start, end: field.range.start)
            report(
                .unknownName, "`\(text)` is not a name that expressions know", at: name.range,
                fix: .init("write `\(field.text)`", edits: [.init(range: prefix, replacement: "")]))
        } else if text == "github" || text == "runner", let field {
            report(
                .unknownName, "`\(text)` is not a name that expressions know", at: name.range,
                fix: .init(Self.remedy(forGitHubs: field.text, of: text, isWhole: path.count == 1)))
        } else if let hint = Self.foreignRoots[text] {
            let replacement = Self.replacements[text]
            report(
                .unknownName, "`\(text)` is not a name that expressions know", at: name.range,
                fix: .init(hint, edits: replacement.map { [.init(range: name.range, replacement: $0)] } ?? []))
        } else if let fix = meant(by: text) {
            report(
                .unknownName, "unknown name \(Phrase.quoted(text))", at: name.range,
                fix: .init("write `\(fix)`", edits: [.init(range: name.range, replacement: fix)]))
        } else {
            let visible = findings.isFull ? [] : variables(around: place.row).prefix(12 - Self.roots.count)
            let known = Self.roots.map { "`\($0).…`" } + visible.map { "`\($0.name)`" }
            report(
                .unknownName, "unknown name \(Phrase.quoted(text))", at: name.range,
                notes: [.init("names here are \(known.joined(separator: ", "))")],
                fix: .init("write it in single quotes: `'\(text)'`"))
        }
    }

    /// Suggests a replacement for a `github` or `runner` field: GitHub passes the same values to its steps in
    /// environment variables.
    private static func remedy(forGitHubs field: String, of root: String, isWhole: Bool) -> String {
        if field == "token" {
            return
                "declare it at the top, `secrets: { GITHUB_TOKEN: { env: GITHUB_TOKEN } }`, and list it in the steps "
                + "that may see it"
        }
        guard isWhole, field != "event" else {
            return "let a step read it from the file that the variable GITHUB_EVENT_PATH names"
        }
        return "under GitHub the variable has it: `env.\(root.uppercased())_\(field.uppercased()) ?? ''`"
    }

    /// Returns the name that was probably meant: a declared one that was written without its root, or a similar one.
    private mutating func meant(by text: String) -> String? {
        let use = workflow.use(around: NodeIndex(place.row), isInside: place.isInBody)
        if declared.parameter(text, of: use) != nil { return "params.\(text)" }
        if workflow.sharedValue(text, in: sharedScope) != nil { return "vars.\(text)" }
        if place.isCondition, let status = StatusFunction(rawValue: text) { return "\(status.rawValue)()" }
        if !suggestions.isSpent {
            let visible = variables(around: place.row).map(\.name)
            if let near = suggestions.nearest(to: text, among: Self.roots + visible) { return near }
        }
        if names.visible(text, from: workflow.nodes[place.row].parent.row) != nil { return "steps.\(text)" }
        let isCapital = text.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0 &- 0x30 < 10 || $0 &- 0x41 < 26 }
        return isCapital ? "env.\(text)" : nil
    }

    mutating func unknownField(
        _ name: ExpressionNode.Name, _ message: String, among known: some Collection<String>, otherwise: String? = nil,
        note: Diagnostic.Note? = nil
    ) {
        let near = suggestions.nearest(to: name.text, among: known)
        var notes = note.map { [$0] } ?? []
        if near == nil, !known.isEmpty {
            notes.insert(.init("it has \(Phrase.alternatives(known))"), at: 0)
        }
        let fix: Diagnostic.Fix? =
            if let near {
                .init("write `\(near)`", edits: [.init(range: name.range, replacement: near)])
            } else {
                otherwise.map { .init($0) }
            }
        report(.unknownName, "\(message) \(Phrase.quoted(name.text))", at: name.range, notes: notes, fix: fix)
    }

    mutating func unknownResult(_ name: ExpressionNode.Name, _ result: ValueType.Result) {
        let node = workflow.nodes[result.row]
        let isFanOut = node.settings?.fanOut != nil && !result.isInstance
        if ["result", "status", "conclusion", "state"].contains(name.text) {
            report(
                .unknownName, "`\(node.id)` has no field \(Phrase.quoted(name.text))", at: name.range,
                fix: .init("write `outcome`", edits: [.init(range: name.range, replacement: "outcome")]))
        } else if declared.output(name.text, of: result.row) != nil {
            report(
                .unknownName, "`\(node.id)` has no field \(Phrase.quoted(name.text)), but an output", at: name.range,
                fix: .init(
                    "write `outputs.\(name.text)`",
                    edits: [.init(range: name.range, replacement: "outputs.\(name.text)")]))
        } else if !result.isInstance, node.isGroup, names.member(name.text, of: result.row) != nil {
            let isUse = workflow.use(of: NodeIndex(result.row)) != nil
            let place = isUse ? "what `\(node.id)` uses" : "`\(node.id)`"
            report(
                .unknownName, "`\(name.text)` is inside `\(node.id)` and cannot be read from here", at: name.range,
                fix: .init(
                    isFanOut
                        ? "write `items.*.\(name.text)` for that of every copy"
                        : "give \(place) an output: `outputs: { NAME: \"${{ steps.\(name.text).outputs.NAME }}\" }`"
                ))
        } else {
            unknownField(
                name, "`\(node.id)` has no field", among: findings.isFull ? [] : fieldNames(of: result))
        }
    }

    mutating func unknownStep(_ id: ExpressionNode.Name) {
        var scope = place.isInBody ? place.row : workflow.nodes[place.row].parent.row
        var candidates: [String] = []
        while candidates.count < 1000, !suggestions.isSpent {
            for member in workflow.members(of: NodeIndex(scope)) where workflow[member].hook == nil {
                candidates.append(workflow[member].id)
                if candidates.count >= 1000 { break }
            }
            if scope == 0 || workflow.nodes[scope].isUse { break }
            scope = workflow.nodes[scope].parent.row
        }
        unknownField(
            id, "there is no step or group", among: candidates,
            otherwise: "`steps` reads siblings of the step or of an enclosing group")
    }
}

// Findings about reads that come too early.
extension DataFlowCheck {
    mutating func reportTooEarly(_ id: ExpressionNode.Name) {
        report(
            .unorderedRead, "this is evaluated before any step has run", at: id.range,
            fix: .init("move it to the steps that need `\(id.text)`"))
    }

    mutating func reportUnordered(
        _ id: ExpressionNode.Name, _ row: Int, _ path: [ExpressionNode.Accessor]
    ) {
        let reader = workflow.nodes[place.row].id
        var isDone = false
        if path.count > 1, case .field(let field) = path[1] { isDone = ["outcome", "exit_code"].contains(field.text) }
        let waiting = waiting
        let name = workflow.nodes[waiting].id
        let entry = isDone ? "needs: { \(id.text): done }" : "needs: [\(id.text)]"
        report(
            .unorderedRead,
            "expected a step that `\(reader)` waits for, found `\(id.text)`, which may still run when it starts",
            at: id.range,
            notes: [.init("`\(id.text)` is declared here", at: workflow.nodes[row].range)],
            fix: knowledge.wouldCloseCycle(waiting, needing: row)
                ? .init(
                    """
                    `\(name)` cannot need `\(id.text)`, which waits for `\(name)`: read the result in a step that \
                    starts after both
                    """)
                : .init(
                    "add `\(entry)` to `\(name)`",
                    edits: NeedEdits(workflow).adding(id.text, isDone: isDone, to: waiting)))
    }
}

// Findings about arguments that the file writes out.
extension DataFlowCheck {
    mutating func checkFormat(_ arguments: [ExpressionNode]) {
        guard case .literal(.string(let pattern)) = arguments[0].kind else { return }
        do throws(FormatPattern.SyntaxError) {
            _ = try FormatPattern.fill(pattern, with: arguments.dropFirst().map { _ in "" })
        } catch {
            report(.valueType, error.message, at: arguments[0].range)
        }
    }
    mutating func checkPattern(_ node: ExpressionNode) {
        guard case .literal(.string(let text)) = node.kind else { return }
        do throws(PatternError) {
            _ = try Pattern(text)
        } catch {
            report(
                .invalidPattern,
                "\(Phrase.quoted(text)) is not a regular expression that flowrun knows: \(error.message)",
                at: node.range)
        }
    }

    /// Checks a text that is looked for.
    mutating func checkPart(_ node: ExpressionNode) {
        guard case .literal(.string("")) = node.kind else { return }
        report(.valueType, "expected a text of at least one character, found an empty one", at: node.range)
    }

    mutating func checkCount(_ bounds: [ExpressionNode], at range: SourceRange) {
        guard case .literal(.int(let start)) = bounds[0].kind, case .literal(.int(let end)) = bounds[1].kind,
            start < end
        else { return }
        let (count, overflow) = end.subtractingReportingOverflow(start)
        let limit = ExpressionFunction.listLimit
        guard overflow || count > limit else { return }
        report(.valueType, "the list would have more than \(limit) elements", at: range)
    }
}

// Findings about keys such as `timeout`, whose values follow from parameters and `vars`.
extension DataFlowCheck {
    mutating func checkComputed(_ settings: Settings, of row: Int) {
        if let matrix = settings.fanOut?.matrix { check(matrix, of: row) }
        for setting in settings.computed { check(setting, of: row) }
    }

    /// Checks what is known of the value without a run: the names that it reads, its type, and each value that the file
    /// has for them.
    private mutating func check(_ setting: ComputedSetting, of row: Int) {
        let outer = place
        defer { place = outer }
        place = Place(
            row: row, seesOwnVariables: !WorkflowKey.ofWhole.contains(setting.key), isInside: setting.isInside)
        let group = workflow.scope(of: setting, at: NodeIndex(row))
        var isSound = true
        for (word, template, isItem) in setting.templates {
            for expression in template.expressions {
                let count = findings.count
                let type = present(expression.root)
                if findings.count == count { checkMoment(of: expression, in: setting, group) }
                if findings.count == count, template.expression != nil {
                    checkType(type, of: expression, word: word, isItem: isItem, in: setting)
                }
                if findings.count > count { isSound = false }
            }
        }
        guard isSound, let refusal = workflow.refusal(of: setting, at: NodeIndex(row)) else { return }
        let given = refusal.given.map { "`params.\($0.name)` as \(Phrase.quoted($0.value.text))" }
        report(
            .invalidValue, refusal.message, at: setting.range,
            notes: given.isEmpty ? [] : [.init("with \(given.joined(separator: ", "))")])
    }

    private mutating func checkMoment(of expression: Expression, in setting: ComputedSetting, _ group: NodeIndex) {
        var copies: Set<String> = []
        // The instances of a matrix are made for all copies of the groups around it.
        if setting.key != .matrix {
            for root in Set(expression.references.map(\.root)) where isEarlyVariable(root) { copies.insert(root) }
        }
        var names = LateNames(workflow)
        guard let late = names.first(in: expression, of: group, isCopy: copies.contains) else { return }
        report(
            .notKnownHere,
            "`\(setting.key.spelling)` has its value before the first step, and `\(late.text)` has not", at: late.range,
            fix: .init("read parameters, `vars` without a command, or variables of copies that the file lists"))
    }

    /// True for the variable of a fan-out whose copies are known before the run.
    private mutating func isEarlyVariable(_ name: String) -> Bool {
        var row = place.row
        while row != 0 {
            if declared.hasVariable(name, of: row) {
                let items = workflow.nodes[row].settings?.fanOut?.items
                var names = LateNames(workflow)
                return items.map { names.first(in: $0, of: workflow.nodes[row].parent) == nil } ?? true
            }
            row = workflow.nodes[row].parent.row
        }
        return false
    }

    private mutating func checkType(
        _ type: ValueType, of expression: Expression, word: String?, isItem: Bool, in setting: ComputedSetting
    ) {
        let field = setting.key == .retry ? FieldPlace.retry.fields.first(where: { $0.word == word }) : nil
        let key = field?.type ?? setting.key.definition.type(in: .step)
        guard let expected = type.expectation(of: key, isItem: isItem) else { return }
        report(
            .valueType, "`\(word ?? setting.key.spelling)` takes \(expected), found \(type.described)",
            at: expression.root.range,
            fix: type.isNumber && expected.hasPrefix("a duration")
                ? .init("write the unit, as in `${{ \(expression.text) }}s`") : nil)
    }
}

extension ValueType {
    /// Returns what a key takes if no value of this type can be one; nil if one can. A text may be that of a number:
    /// the variables of a matrix are texts.
    fileprivate func expectation(of key: KeyType, isItem: Bool) -> String? {
        if isAny || isMixed { return nil }
        var isBool: Bool { if case .bool = kind { true } else { false } }
        return switch key {
        case .duration, .grace: isText ? nil : "a duration such as `90s`, `10m` or `1h30m`"
        case .wholeNumber, .attempts: isNumber || isText ? nil : "a whole number"
        case .factor, .share: isNumber || isText ? nil : "a number"
        case .flag: isBool || isText ? nil : "true or false"
        case .platforms, .retryReasons, .matrix: isItem == isList ? isItem ? "a word" : "a list" : nil
        case .shell: isItem ? isList ? "a word" : nil : isText || isList ? nil : "a shell's name or a list of words"
        case .retry: isScalar || isList ? "a mapping such as `{ attempts: 3, delay: 5s }`" : nil
        default: isScalar ? nil : "a text"
        }
    }
}
