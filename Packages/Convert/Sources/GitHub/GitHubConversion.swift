internal import Syntax

/// Converts a GitHub workflow: each job becomes a group whose members run one after the other.
struct GitHubConversion {
    private let source: YAMLSource
    private var draft = WorkflowDraft()
    private var ids = StepIDs()
    private var reads: [String: [String]] = [:]
    private var shell: String?
    private var secrets: [(name: String, variable: String)] = []
    /// The reason why no step can be trusted; nil if there is none.
    private var problem: String?
    /// The values that variables of the whole file are known to have.
    private var values: [String: [String]] = [:]
    private var isElsewhere = false
    /// Variables of the whole file that only steps can have, because they are secret.
    private var topSecrets: [(name: String, variable: String)] = []

    static func draft(of root: YAMLNode, source: YAMLSource) -> WorkflowDraft {
        var conversion = GitHubConversion(source: source)
        conversion.convert(root)
        return conversion.draft
    }

    private init(source: YAMLSource) { self.source = source }

    private mutating func convert(_ root: YAMLNode) {
        var fields = YAMLFields(root)
        draft.name = fields.takeText("name")
        if let (key, value) = fields.takeEntry("on") {
            addParams(value)
            draft.head += source.excerpt(key, value).comments("who starts flowrun says when")
        }
        collectReads(root)
        for (key, value) in fields.take("env")?.entries.map({ ($0.key, $0.value) }) ?? [] {
            if let secret = GitHubStep.secret(value.text) {
                topSecrets.append((key.text, secret))
            } else if let text = try? GitHubStep.template(value.text) {
                draft.env.append(YAMLEntry(key.text, .text(text), comments: source.comment(above: key)))
                values[key.text, default: []].append(value.text)
            } else {
                problem = problem ?? "what `\(key.text)` of the environment is could not be converted"
                draft.tail += source.excerpt(key, value).comments("not converted")
            }
        }
        if !draft.env.contains(where: { $0.key == "CI" }) { draft.env.append(YAMLEntry("CI", .text("true"))) }
        // The runner's default differs from `shell: bash`.
        var defaults: [YAMLEntry] = []
        if let node = fields.take("defaults") { (shell, defaults) = self.defaults(node) { problem = problem ?? $0 } }
        isElsewhere = defaults.contains { $0.key == "working-directory" }
        if !defaults.contains(where: { $0.key == "shell" }) {
            defaults.insert(YAMLEntry("shell", .texts(["bash", "-e", "-c"])), at: 0)
        }
        draft.settings.append(YAMLEntry("defaults", .inline(defaults)))
        draft.head.append("Each job works in a copy of the tree as it is, without what git ignores.")
        let jobs = fields.take("jobs").map { Array($0.entries) } ?? []
        draft.tail += fields.leftOver(source)
        if let key = fields.otherKeys.first(where: { !["permissions", "concurrency", "run-name"].contains($0) }) {
            problem = problem ?? "`\(key)` was not understood"
        }
        for job in jobs { _ = ids.id(for: job.key.text) }
        for job in jobs { draft.steps.append(step(of: job.key, job.value)) }
        skipDependents()
        for secret in secrets {
            let fields = [YAMLEntry("env", .text(secret.variable))]
            draft.secrets.append(YAMLEntry(secret.name, .inline(fields)))
        }
    }

    /// Adds the inputs of the workflow as parameters.
    private mutating func addParams(_ node: YAMLNode) {
        for trigger in node.entries where ["workflow_dispatch", "workflow_call"].contains(trigger.key.text) {
            var fields = YAMLFields(trigger.value)
            for input in fields.take("inputs").map({ Array($0.entries) }) ?? [] {
                let name = GitHubExpression.variableName(input.key.text)
                guard !draft.params.contains(where: { $0.key == name }) else { continue }
                draft.params.append(YAMLEntry(name, .inline(parameter(input.value))))
                var fields = YAMLFields(input.value)
                values[name] = [fields.takeText("default")].compactMap { $0 } + (fields.takeTexts("options") ?? [])
            }
        }
    }

    private func parameter(_ node: YAMLNode) -> [YAMLEntry] {
        var fields = YAMLFields(node)
        let initial = fields.takeText("default")
        let isRequired = fields.takeFlag("required") ?? false
        var entries: [YAMLEntry] = []
        switch fields.takeText("type") {
        case "boolean":
            entries = [YAMLEntry("type", .word("bool"))]
            if let initial { entries.append(YAMLEntry("default", .word(initial))) }
        case "choice":
            let values = fields.takeTexts("options") ?? []
            entries = [YAMLEntry("type", .word("enum")), YAMLEntry("values", .texts(values))]
            entries.append(YAMLEntry("default", .text(initial ?? values.first ?? "")))
        default:
            entries = [YAMLEntry("type", .word("string"))]
            if let initial { entries.append(YAMLEntry("default", .text(initial))) }
        }
        if isRequired, !entries.contains(where: { $0.key == "default" }) {
            entries.append(YAMLEntry("required", .word("true")))
        }
        if let text = fields.takeText("description") { entries.append(YAMLEntry("description", .text(text))) }
        return entries
    }

    /// Finds every `steps.ID.outputs.NAME` that is read.
    private mutating func collectReads(_ node: YAMLNode) {
        switch node.kind {
        case .scalar:
            var rest = node.text[...]
            while let range = rest.firstRange(of: "steps.") {
                rest = rest[range.upperBound...]
                let path = rest.prefix { $0.isIDCharacter || $0 == "." }
                let parts = path.split(separator: ".").map(String.init)
                if parts.count == 3, parts[1] == "outputs", !(reads[parts[0]] ?? []).contains(parts[2]) {
                    reads[parts[0], default: []].append(parts[2])
                }
            }
        case .sequence: for element in node.elements { collectReads(element) }
        case .mapping: for entry in node.entries { collectReads(entry.value) }
        case .invalid: break
        }
    }

    private func defaults(
        _ node: YAMLNode, problem: (String) -> Void
    ) -> (shell: String?, entries: [YAMLEntry]) {
        var fields = YAMLFields(node)
        var entries: [YAMLEntry] = []
        var shell: String?
        if let run = fields.take("run") {
            var inner = YAMLFields(run)
            if let name = inner.takeText("shell") {
                if let value = try? GitHubStep.shell(name) {
                    shell = name
                    entries.append(YAMLEntry("shell", value))
                } else {
                    problem("`shell: \(name)` takes its script as a file, in a way of its own")
                }
            }
            if let folder = inner.takeText("working-directory") {
                if let text = try? GitHubStep.template(folder) {
                    entries.append(YAMLEntry("working-directory", .text(text)))
                } else {
                    problem("only a run knows the folder `\(folder)`")
                }
            }
            if let key = inner.firstKey { problem("`\(key)` of `defaults` was not understood") }
        }
        if let key = fields.firstKey { problem("`\(key)` of `defaults` was not understood") }
        return (shell, entries)
    }

    // MARK: - Jobs

    private mutating func step(of key: YAMLNode, _ node: YAMLNode) -> StepDraft {
        var fields = YAMLFields(node)
        var step = StepDraft(ids.id(for: key.text), .milestone, origin: source.excerpt(key, node))
        step.comments = source.comment(above: key)
        if let name = fields.takeText("name") {
            if name.contains("${{") { step.notes.append("not converted: name: \(name)") } else { step.name = name }
        }
        step.needs = (fields.takeTexts("needs") ?? []).map { ids.id(for: $0) }
        if let action = fields.takeText("uses") {
            step.giveUp("flowrun does not call the workflow `\(action)`")
            return step
        }
        var jobShell = shell
        var problem = problem
        var values = values
        do throws(GitHubProblem) {
            if let condition = fields.takeText("if") { step.condition = try GitHubStep.condition(condition) }
            values.merge(Self.axes(fields)) { $0 + $1 }
            try addFanOut(&fields, to: &step)
            if let minutes = fields.takeText("timeout-minutes") { step.set("timeout", try GitHubStep.minutes(minutes)) }
            if fields.takeFlag("continue-on-error") == true { step.set("continue-on-error", .word("true")) }
        } catch {
            problem = problem ?? error.reason
        }
        if let node = fields.take("defaults") {
            let own = defaults(node) { problem = problem ?? $0 }
            jobShell = own.shell ?? jobShell
            step.settings += own.entries
        }
        var jobSecrets = topSecrets
        for (key, value) in fields.take("env")?.entries.map({ ($0.key, $0.value) }) ?? [] {
            if let secret = GitHubStep.secret(value.text) {
                jobSecrets.append((key.text, secret))
            } else if let text = try? GitHubStep.template(value.text) {
                step.env.append(YAMLEntry(key.text, .text(text), comments: source.comment(above: key)))
                values[key.text] = [value.text]
            } else {
                problem = problem ?? "what `\(key.text)` of the environment is could not be converted"
            }
        }
        let isElsewhere = isElsewhere || step.settings.contains { $0.key == "working-directory" }
        var converter = GitHubStep(
            source: source, shell: jobShell, reads: reads, values: values, isElsewhere: isElsewhere)
        addOutputs(fields.take("outputs"), to: &step) { problem = problem ?? $0 }
        let machine = fields.takeEntry("runs-on")
        if let (key, value) = machine {
            step.notes += source.excerpt(key, value).comments("the steps run on this machine")
        }
        let runner = GitHubRunner(machine?.value, values)
        if case .unknown(let reason) = runner { problem = problem ?? reason }
        let elements = fields.take("steps").map { Array($0.elements) } ?? []
        if elements.isEmpty { problem = problem ?? "it has no steps" }
        var members = self.members(elements, &converter, comments: &step.notes)
        for index in members.indices {
            for secret in jobSecrets { converter.want(secret.name, from: secret.variable, in: &members[index]) }
        }
        for secret in converter.secrets where !secrets.contains(where: { $0.name == secret.name }) {
            secrets.append(secret)
        }
        step.notes += fields.leftOver(source)
        let told = ["permissions", "concurrency", "environment"]
        if let key = fields.otherKeys.first(where: { !told.contains($0) }) {
            problem = problem ?? "`\(key)` of a job has no counterpart"
        }
        if let problem {
            step.giveUp(problem)
            return step
        }
        switch runner {
        case .here, .unknown: break
        case .other(let platforms):
            for index in members.indices { members[index].set("platforms", .texts(platforms)) }
        case .some(let condition):
            step.condition = step.condition.map { "(\($0)) && \(condition)" } ?? condition
            step.notes.append("copies for another system than Linux are skipped")
        }
        setBody(of: &step, members)
        return step
    }

    /// GitHub skips a job that needs a skipped one, unless its condition has a function that looks at the outcomes.
    private mutating func skipDependents() {
        var skippable: Set<String> = []
        var before = -1
        while skippable.count > before {
            before = skippable.count
            for step in draft.steps where step.mayBeSkipped || !skippable.isDisjoint(with: step.needs) {
                skippable.insert(step.id)
            }
        }
        let functions = ["always(", "failure(", "cancelled("]
        for index in draft.steps.indices where draft.steps[index].unfinishedIDs != [draft.steps[index].id] {
            let condition = draft.steps[index].condition
            guard condition.map({ text in functions.contains { text.contains($0) } }) != true else { continue }
            let needs = draft.steps[index].needs.filter(skippable.contains).map { "steps.\($0).outcome != 'skipped'" }
            let own = condition.map { ["(\($0))"] } ?? []
            if !needs.isEmpty { draft.steps[index].condition = (needs + own).joined(separator: " && ") }
        }
    }

    /// The values of the axes of a job, by the variables of its copies.
    private static func axes(_ fields: YAMLFields) -> [String: [String]] {
        var fields = fields
        guard let strategy = fields.take("strategy") else { return [:] }
        var inner = YAMLFields(strategy)
        var values: [String: [String]] = [:]
        for (key, value) in inner.take("matrix")?.entries.map({ ($0.key.text, $0.value) }) ?? [] {
            if key == "include" {
                for entry in value.elements.flatMap({ Array($0.entries) }) {
                    values[GitHubExpression.variableName(entry.key.text), default: []].append(entry.value.text)
                }
            } else if key != "exclude" {
                values[GitHubExpression.variableName(key), default: []] += value.elements.map(\.text)
            }
        }
        return values
    }

    private func members(
        _ elements: [YAMLNode], _ converter: inout GitHubStep, comments: inout [String]
    ) -> [StepDraft] {
        var ids = StepIDs()
        var members: [StepDraft] = []
        var waiting: [String] = []
        // Ids that other steps read are given first.
        for element in elements {
            var fields = YAMLFields(element)
            if let id = fields.takeText("id") { _ = ids.id(for: id) }
        }
        for element in elements {
            switch converter.convert(element, ids: &ids) {
            case .comment(let lines): waiting += lines
            case .step(var step):
                step.comments = waiting + step.comments
                waiting = []
                members.append(step)
            }
        }
        comments += waiting
        return members
    }

    /// A job is a group in a copy of the tree of its own.
    private func setBody(of step: inout StepDraft, _ members: [StepDraft]) {
        guard !members.isEmpty else {
            step.body = .script(":")
            return
        }
        var settings = [YAMLEntry("isolate", .word("copy"))]
        if members.count > 1 { settings.append(YAMLEntry("order", .word("sequence"))) }
        step.settings = settings + step.settings
        step.body = .group(Self.followingFailures(members))
    }

    /// A step of a job needs all steps before it, a member of a sequence the one before it. The two differ after a
    /// member that runs after a failure: the next one also needs those before that member.
    private static func followingFailures(_ members: [StepDraft]) -> [StepDraft] {
        var members = members
        var last: String?
        var passing: [String] = []
        for index in members.indices {
            // The one directly before it is needed anyway.
            if !passing.isEmpty { members[index].needs = [last].compactMap { $0 } + passing.dropLast() }
            let condition = members[index].condition ?? ""
            if ["failure()", "always()", "cancelled()"].contains(where: condition.contains) {
                passing.append(members[index].id)
            } else {
                (last, passing) = (members[index].id, [])
            }
        }
        return members
    }

    private func addOutputs(_ node: YAMLNode?, to step: inout StepDraft, problem: (String) -> Void) {
        for (key, value) in node?.entries.map({ ($0.key, $0.value) }) ?? [] {
            if let text = try? GitHubStep.template(value.text) {
                step.outputs.append(YAMLEntry(GitHubExpression.variableName(key.text), .text(text)))
            } else {
                problem("what its output `\(key.text)` is could not be converted")
            }
        }
    }
}

// The matrix of a job.
extension GitHubConversion {
    private func addFanOut(_ fields: inout YAMLFields, to step: inout StepDraft) throws(GitHubProblem) {
        guard let strategy = fields.take("strategy") else { return }
        var inner = YAMLFields(strategy)
        guard let matrix = inner.take("matrix") else {
            for key in ["fail-fast", "max-parallel"] { _ = inner.take(key) }
            if let key = inner.firstKey { throw GitHubProblem("`\(key)` of `strategy` was not understood") }
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
        if let key = inner.firstKey { throw GitHubProblem("`\(key)` of `strategy` was not understood") }
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
