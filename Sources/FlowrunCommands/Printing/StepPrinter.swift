internal import Basics
internal import Planning
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow
internal import WorkflowConversion

/// The answer of `flowrun show`: a step or group with all that it inherits, as a workflow file of its own.
///
/// Values are filled in as for a dry run. Needs and conditions, to which only the rest of the workflow gives a
/// meaning, are in comments.
struct StepPrinter {
    private let preview: RunPreview
    private let subject: PlanIndex
    private var fates: [PlanIndex: RunPreview.Fate] = [:]
    /// The ids in the file of those copies that are shown.
    private let copies: [PlanIndex: String]
    private var plan: Plan { preview.plan }
    /// The names of all `vars`.
    private let sharedNames: Set<String>

    init(_ preview: RunPreview, of subject: PlanIndex) {
        self.preview = preview
        self.subject = subject
        let workflow = preview.plan.workflow
        sharedNames = Set(
            workflow.nodes.indices.flatMap { row in workflow.sharedValues(of: NodeIndex(row)).map(\.name) })
        copies = Self.names(ofCopiesIn: [subject] + preview.plan.rows(inside: subject), of: preview.plan)
        for case .step(let row, let fate) in preview.entries { fates[row] = fate }
    }

    /// The reason why a step cannot be shown; nil if all can.
    var failure: String? {
        for row in [subject] + plan.rows(inside: subject) {
            if case .cannotStart(let reason)? = fates[row] { return "`\(plan.nodes[row].id)`: \(reason)" }
        }
        return nil
    }

    func yaml() -> String {
        var writer = YAMLWriter()
        writer.comment(["\(plan.nodes[subject].id), \(plan.place(of: subject))"])
        writer.write(document)
        return writer.lines.joined(separator: "\n") + "\n"
    }

    func json() -> String {
        JSONWriter.line { json in Self.write(.mapping(document), to: &json) }
    }

    private static func write(_ value: YAMLValue, to json: inout JSONWriter) {
        switch value {
        case .word("true"): json.value(true)
        case .word("null"): json.null()
        case .word(let word): if Double(word) != nil { json.value(json: word) } else { json.value(word) }
        case .text(let text), .script(let text): json.value(text)
        case .list(let items): json.array { json in for item in items { write(item, to: &json) } }
        case .inline(let entries), .mapping(let entries):
            json.object { json in
                for entry in entries {
                    json.key(entry.key)
                    write(entry.value, to: &json)
                }
            }
        }
    }

    // MARK: The file

    private var document: [YAMLEntry] {
        let rows = [subject] + plan.rows(inside: subject)
        var entries = [YAMLEntry("version", .word("1"))]
        // All of them, because a run takes the variables of each from the steps that do not list it.
        let secrets = plan.workflow.secrets
        if !secrets.isEmpty {
            entries.append(
                YAMLEntry("secrets", .mapping(secrets.map { YAMLEntry($0.name, .inline([Self.source(of: $0)])) })))
        }
        let pools = Set(rows.flatMap { plan.pools(of: $0).map(\.pool) })
        let taken = plan.workflow.pools.filter { pools.contains($0.name) }
        if !taken.isEmpty {
            entries.append(
                YAMLEntry("pools", .mapping(taken.map { YAMLEntry($0.name, .word("\($0.size)")) })))
        }
        return entries + [YAMLEntry("steps", .mapping([member(subject)]))]
    }

    private static func source(of secret: Secret) -> YAMLEntry {
        switch secret.source {
        case .environment(let name): YAMLEntry("env", .text(name))
        case .file(let path): YAMLEntry("file", .text(path))
        }
    }

    private func member(_ row: PlanIndex) -> YAMLEntry {
        let entries = plan.isStep(row) ? step(row) : group(row)
        return YAMLEntry(
            name(of: row), entries.isEmpty ? .inline([]) : .mapping(entries),
            comments: needsOutside(row) + conditions(row) + (row == subject ? copiedTree : []))
    }

    /// The copy of the tree in which what is shown runs, in words.
    private var copiedTree: [String] {
        plan.rowAndAround(subject).dropFirst().filter(plan.isIsolated).prefix(1)
            .map { "runs in a copy of the tree: isolate of \(plan.nodes[$0].id)" }
    }

    private func name(of row: PlanIndex) -> String {
        copies[row] ?? plan.workflow[plan.nodes[row].definition].id
    }

    /// Returns ids for copies: that of the step with the values, as far as an id may have them, and a number where
    /// that leaves two the same.
    private static func names(ofCopiesIn rows: [PlanIndex], of plan: Plan) -> [PlanIndex: String] {
        struct Sibling: Hashable {
            let parent: PlanIndex
            let name: String
        }
        var names: [PlanIndex: String] = [:]
        // With the last number behind each.
        var taken: [Sibling: Int] = [:]
        for row in rows {
            let id = plan.nodes[row].id
            guard id.last == "]", let open = id.lastIndex(of: "[") else { continue }
            let values = id[id.index(after: open)...].dropLast().utf8.map { byte -> Character in
                (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 ? Character(Unicode.Scalar(byte)) : "-"
            }
            let whole = plan.workflow[plan.nodes[row].definition].id + "-" + String(values)
            // Leaves room for the number.
            let base = Sibling(parent: plan.nodes[row].parent, name: String(whole.prefix(StepName.lengthLimit - 8)))
            var sibling = base
            while taken[sibling] != nil {
                taken[base, default: 1] += 1
                sibling = Sibling(parent: base.parent, name: "\(base.name)-\(taken[base, default: 1])")
            }
            taken[sibling] = 1
            names[row] = sibling.name
        }
        return names
    }

    private func isShown(_ row: PlanIndex) -> Bool { row == subject || plan.isInside(row, subject) }

    private func needsOutside(_ row: PlanIndex) -> [String] {
        let edges = plan.edges(of: row).filter { !$0.isSequence && !(row != subject && isShown($0.target)) }
        guard !edges.isEmpty else { return [] }
        return ["needs: " + edges.map { words(of: $0) }.joined(separator: ", ")]
    }

    private func words(of edge: PlanEdge) -> String {
        let id = plan.nodes[edge.target].id.visible
        return edge.kind == .ok ? id : "\(id): \(edge.kind.word)"
    }

    private func conditions(_ row: PlanIndex) -> [String] {
        let own = plan.condition(of: row).map { ["if: \($0.text.asOneLine)"] } ?? []
        return own + plan.requirements(of: row).map { "require: \($0.condition.text.asOneLine)" }
    }

    // MARK: Keys

    /// Returns the keys that steps and groups share.
    private func common(_ row: PlanIndex) -> [YAMLEntry] {
        let settings = plan.nodes[plan.nodes[row].parent].role == .fanOut && row != .root ? nil : plan.settings(of: row)
        var entries: [YAMLEntry] = []
        if let name = settings?.name { entries.append(entry(.name, .text(name))) }
        if let description = settings?.description { entries.append(entry(.description, .text(description))) }
        let needs = row == subject ? [] : plan.edges(of: row).filter { !$0.isSequence && isShown($0.target) }
        if !needs.isEmpty {
            let areListed = needs.allSatisfy { $0.kind == .ok }
            let names = needs.map { name(of: $0.target) }
            entries.append(
                entry(
                    .needs,
                    areListed
                        ? .texts(names) : .inline(zip(names, needs).map { YAMLEntry($0, .word($1.kind.word)) })))
        }
        guard plan.nodes[row].role != .fanOut else { return entries + limits(row) }
        if let question = plan.confirmation(of: row) { entries.append(entry(.confirm, Self.template(question))) }
        return entries
    }

    private func entry(_ key: WorkflowKey, _ value: YAMLValue, _ comments: [String] = []) -> YAMLEntry {
        YAMLEntry(key.spelling, value, comments: comments)
    }

    /// A text whose `${{` is no expression.
    private static func template(_ text: String) -> YAMLValue { .text(text.replacing("${{", with: "$${{")) }

    private func inherited(_ key: WorkflowKey, _ value: YAMLValue, by row: PlanIndex) -> YAMLEntry {
        entry(key, value, origin(of: row) { plan.settings(of: $0)?.keys.contains(key) == true }.map { [$0] } ?? [])
    }

    /// Returns where a row has something from; nil if it says so itself.
    private func origin(of row: PlanIndex, _ says: (PlanIndex) -> Bool) -> String? {
        var next = row
        while !says(next) {
            guard next != .root else { return "from `defaults`" }
            next = plan.nodes[next].parent
        }
        if next == row || plan.nodes[next].role == .fanOut { return nil }
        return next == .root ? "from the top of the file" : "from \(plan.nodes[next].id)"
    }

    private func step(_ row: PlanIndex) -> [YAMLEntry] {
        var entries = common(row)
        guard case .starts(let command)? = fates[row] else { return entries + treatment(row) }
        let secrets = plan.settings(of: row)?.secrets.map(\.name) ?? []
        if !secrets.isEmpty { entries.append(entry(.secrets, .texts(secrets))) }
        let variables = environment(of: row, command).filter { !secrets.contains($0.key) }
        if !variables.isEmpty { entries.append(entry(.env, .mapping(variables))) }
        if command.environmentPolicy != .inherit {
            entries.append(inherited(.envPolicy, .word(command.environmentPolicy.rawValue), by: row))
        }
        if let folder = command.folder {
            entries.append(inherited(.workingDirectory, Self.template(folder), by: row))
        }
        if let shell = command.shell { entries.append(inherited(.shell, Self.words(of: shell), by: row)) }
        if let input = command.input { entries.append(entry(.stdin, Self.template(input))) }
        if let script = command.script {
            let isBlock = script.hasSuffix("\n") && !script.hasSuffix("\n\n") && script != "\n"
            entries.append(entry(.run, isBlock ? .script(script) : .text(script)))
        } else {
            entries.append(entry(.run, .list(command.arguments.map(Self.template))))
        }
        return entries + treatment(row)
    }

    /// Returns the variables of the file and the command line: the step's own, then those of each place around it.
    private func environment(of row: PlanIndex, _ command: RunPreview.Command) -> [YAMLEntry] {
        var values: [String: String?] = [:]
        for (name, value) in preview.environment + command.environment { values.updateValue(value, forKey: name) }
        var places: [(place: String?, entries: [YAMLEntry])] = [(nil, [])]
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let place = place(of: name, around: row)
            let entry = YAMLEntry(name, value.map(Self.template) ?? .word("null"))
            if let known = places.firstIndex(where: { $0.place == place }) {
                places[known].entries.append(entry)
            } else {
                places.append((place, [YAMLEntry(name, entry.value, comments: place.map { [$0] } ?? [])]))
            }
        }
        return places.flatMap(\.entries)
    }

    private func place(of variable: String, around row: PlanIndex) -> String? {
        let workflow = plan.workflow
        if plan.settings(of: row)?.parameters.contains(where: { $0.name == variable }) == true { return nil }
        var isOfTop = false
        let origin = origin(of: row) { next in
            isOfTop = next == .root
            let settings = [plan.settings(of: next), plan.use(of: next)?.settings].compactMap(\.self)
            let isOfCopy =
                plan.nodes[plan.nodes[next].parent].role == .fanOut
                && plan.nodes[next].variables.contains { $0.name == variable }
            return isOfCopy || settings.contains { $0.env.contains { $0.name == variable } }
                || plan.use(of: next)?.parameters.contains { $0.name == variable } == true || isOfTop
        }
        guard isOfTop, plan.settings(of: .root)?.env.contains(where: { $0.name == variable }) != true else {
            return origin
        }
        if workflow.parameters.contains(where: { $0.name == variable }) { return "from `params`" }
        return sharedNames.contains(variable) ? "from `vars`" : "from `dotenv`"
    }

    /// Returns the keys that say how a step's process and its end are treated.
    private func treatment(_ row: PlanIndex) -> [YAMLEntry] {
        var entries: [YAMLEntry] = []
        if plan.streams(of: row) != .together {
            entries.append(inherited(.streams, .word(plan.streams(of: row).rawValue), by: row))
        }
        let attributes = plan.settings(of: row)?.attributes
        if attributes?.isDetached == true { entries.append(entry(.detach, .word("true"))) }
        if attributes?.isInteractive == true { entries.append(entry(.interactive, .word("true"))) }
        if let view = plan.logView(of: row) { entries.append(inherited(.log, .word(view.rawValue), by: row)) }
        let outputs = plan.settings(of: row)?.outputs ?? []
        if !outputs.isEmpty { entries.append(entry(.outputs, .mapping(outputs.compactMap(Self.output)))) }
        entries += limits(row)
        if !plan.isMilestone(row) {
            if plan.grace(of: row) != Settings.defaultGrace {
                entries.append(inherited(.grace, .word(plan.grace(of: row).asWritten), by: row))
            }
            if plan.killSignal(of: row) != .term {
                entries.append(inherited(.killSignal, .word(plan.killSignal(of: row).rawValue), by: row))
            }
        }
        let pools = plan.pools(of: row)
        if !pools.isEmpty {
            entries.append(entry(.pool, .inline(pools.map { YAMLEntry($0.pool, .word("\($0.units)")) })))
        }
        let platforms = plan.settings(of: row)?.platforms ?? []
        if !platforms.isEmpty { entries.append(entry(.platforms, .texts(platforms.map(\.rawValue)))) }
        return entries
    }

    private static func output(_ output: OutputDeclaration) -> YAMLEntry? {
        switch output.source {
        case .file(let kind): YAMLEntry(output.name, .word(kind.rawValue))
        case .standardOutput(let kind):
            YAMLEntry(
                output.name, .inline([YAMLEntry("type", .word(kind.rawValue)), YAMLEntry("from", .word("stdout"))]))
        case .expression: nil
        }
    }

    /// Returns the keys of steps and groups that bound them in time and number.
    private func limits(_ row: PlanIndex) -> [YAMLEntry] {
        var entries: [YAMLEntry] = []
        if plan.nodes[row].role != .fanOut {
            if let timeout = plan.timeout(of: row) {
                let isSet =
                    plan.settings(of: row)?.keys.contains(.timeout) == true || plan.workflow.defaults?.timeout != nil
                entries.append(
                    isSet
                        ? inherited(.timeout, .word(timeout.asWritten), by: row)
                        : entry(.timeout, .word(timeout.asWritten), ["the default in hooks"]))
            }
            if let retry = plan.retry(of: row) {
                entries.append(inherited(.retry, .inline(Self.words(of: retry)), by: row))
            }
            if plan.toleratesFailure(of: row) { entries.append(entry(.continueOnError, .word("true"))) }
            let mutexes = (plan.settings(of: row)?.mutexes ?? []).map(\.name).filter { $0 != MutexRequest.terminal }
            if !mutexes.isEmpty { entries.append(entry(.mutex, .texts(mutexes))) }
        }
        if let limit = plan.maxParallel(of: row) { entries.append(entry(.maxParallel, .word("\(limit)"))) }
        if let word = plan.failFast(of: row) { entries.append(entry(.failFast, .word(word.rawValue))) }
        if plan.isIsolated(row) { entries.append(entry(.isolate, .word(Isolation.copy.rawValue))) }
        return entries
    }

    private static func words(of shell: [String]) -> YAMLValue {
        let name = shell.first ?? ""
        return Shell(named: name).arguments == shell ? template(name) : .list(shell.map(template))
    }

    private static func words(of retry: Retry) -> [YAMLEntry] {
        var entries = [YAMLEntry("attempts", .word("\(retry.attempts)"))]
        if retry.delay != .zero { entries.append(YAMLEntry("delay", .word(retry.delay.asWritten))) }
        if retry.backoff != 1 { entries.append(YAMLEntry("backoff", .word("\(retry.backoff)"))) }
        if let longest = retry.maxDelay { entries.append(YAMLEntry("max-delay", .word(longest.asWritten))) }
        if retry.jitter != 0 { entries.append(YAMLEntry("jitter", .word("\(retry.jitter)"))) }
        if !retry.reasons.isEmpty {
            let reasons = retry.reasons.map { reason -> YAMLValue in
                switch reason {
                case .exitCode(let code): .word("\(code)")
                case .timeout: .word("timeout")
                case .signal: .word("signal")
                }
            }
            entries.append(YAMLEntry("when", .list(reasons)))
        }
        if let deadline = retry.deadline { entries.append(YAMLEntry("deadline", .word(deadline.duration.asWritten))) }
        return entries
    }

    // MARK: Groups

    private func group(_ row: PlanIndex) -> [YAMLEntry] {
        var entries = common(row)
        if plan.nodes[row].role == .group { entries += limits(row) }
        if plan.isSequence(row) { entries.append(entry(.order, .word("sequence"))) }
        if plan.nodes[row].role == .group, plan.use(of: row) == nil {
            let outputs = (plan.settings(of: row)?.outputs ?? []).compactMap(Self.expression)
            if !outputs.isEmpty { entries.append(entry(.outputs, .mapping(outputs))) }
        }
        let members = plan.members(of: row)
        if plan.nodes[row].role == .fanOut {
            // As a fan-out hands them on: a list with the value of each copy.
            let outputs = (plan.settings(of: row)?.outputs ?? []).map { output in
                let values = members.map { "steps.\(name(of: $0)).outputs.\(output.name)" }.joined(separator: ", ")
                return YAMLEntry(output.name, .text("${{ [\(values)] }}"))
            }
            if !outputs.isEmpty { entries.append(entry(.outputs, .mapping(outputs))) }
        }
        entries.append(entry(.steps, .mapping(members.filter { plan.nodes[$0].hook == nil }.map(member))))
        for hook in members {
            guard let kind = plan.nodes[hook].hook else { continue }
            entries.append(
                entry(kind == .finally ? .finally : .onFailure, .mapping(plan.members(of: hook).map(member))))
        }
        return entries
    }

    /// Returns an output of a group that reads nothing but its members; nil for any other.
    private static func expression(_ output: OutputDeclaration) -> YAMLEntry? {
        guard case .expression(.parsed(let template)) = output.source else { return nil }
        var text = ""
        for part in template.parts {
            switch part {
            case .text(let literal): text += literal.replacing("${{", with: "$${{")
            case .expression(let expression):
                guard expression.references.allSatisfy({ $0.root == "steps" }), !expression.text.contains(".items")
                else { return nil }
                text += "${{ \(expression.text) }}"
            }
        }
        return YAMLEntry(output.name, .text(text))
    }
}
