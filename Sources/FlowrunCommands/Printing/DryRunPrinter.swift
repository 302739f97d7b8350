internal import Basics
internal import Planning
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// The answer of `flowrun --dry-run`: every command that would run, in a legal order.
///
/// As text a script's lines, or a list's words, stand as they would run; everything else is in lines that begin with
/// `#`.
struct DryRunPrinter {
    private let preview: RunPreview
    private var plan: Plan { preview.plan }
    /// The id of the run that would be resumed, nil if there is none; nil if none was to be.
    private let resumes: String??
    private let notes: [String]
    /// True if the questions of steps would be asked.
    private let asks: Bool

    /// Longer standard input is cut.
    private static let linesShown = 20

    init(_ preview: RunPreview, resumes: String??, notes: [String], asks: Bool) {
        self.preview = preview
        self.resumes = resumes
        self.notes = notes
        self.asks = asks
    }

    // MARK: Text

    func text() -> String {
        let steps = preview.entries.compactMap { if case .step(_, let fate) = $0 { fate } else { nil } }
        let size = steps.count.counted("step")
        var text = comment("\(plan.workflow.file.name): \(size), in an order in which they may run")
        if let resumes {
            if let run = resumes {
                let taken = steps.count { if case .takenOver = $0 { true } else { false } }
                text += comment("resuming \(run): \(taken.counted("step")) restored")
            }
            text += notes.map { comment("warning: \($0.asOneLine)") }.joined()
        }
        text += variables(preview.environment, "env of all steps")
        for entry in preview.entries {
            text += "\n"
            switch entry {
            case .step(let row, let fate): text += step(row, fate)
            case .value(let id, let group, let fate): text += value(id, group, fate)
            case .copy(let group, let isKept): text += copy(group, isKept)
            }
        }
        return text
    }

    private func comment(_ text: String) -> String { "# \(text.visible)\n" }

    private func step(_ row: PlanIndex, _ fate: RunPreview.Fate) -> String {
        let item = plan.nodes[row].variables.isEmpty ? nil : plan.item(of: row)
        let title = InstanceValues.title(plan.nodes[row].id, item: item)
        switch fate {
        case .takenOver: return comment("\(title): restored")
        case .skipped(let reason): return comment("\(title): skipped, \(reason.asOneLine)")
        case .cannotStart(let reason):
            return comment("\(title) (\(plan.place(of: row)))") + comment("cannot start: \(reason.asOneLine)")
        case .starts(let command):
            var head = "\(title) (\(plan.place(of: row)))"
            if let hook = hook(around: row) { head += hook == .finally ? ", at the end" : ", only after a failure" }
            var text = comment(head)
            if resumes != nil, let words = resumeWords(of: row) { text += comment(words) }
            text += command.conditions.map { comment($0.asOneLine) }.joined()
            text += failuresNeeded(by: row).map { comment("only if `\($0)` fails") }.joined()
            text += questions(of: row).map { comment("asks: \($0.asOneLine)") }.joined()
            return text + self.text(of: command)
        }
    }

    private func copy(_ group: PlanIndex, _ isKept: Bool) -> String {
        let id = SharedValueID.tree(of: plan.nodes[group].definition)
        let (file, line) = plan.workflow.place(of: id)
        return comment("\(plan.workflow[id].words) of \(plan.nodes[group].id) (\(file):\(line))")
            + comment(
                isKept
                    ? "the steps of \(plan.nodes[group].id) go on in the copy of the tree that was kept"
                    : "copies the tree; the steps of \(plan.nodes[group].id) run in the copy")
    }

    private func value(_ id: SharedValueID, _ group: PlanIndex, _ fate: RunPreview.Fate) -> String {
        let (file, line) = plan.workflow.place(of: id)
        let owner = group == .root ? "" : " of \(plan.nodes[group].id)"
        let head = comment("\(plan.workflow[id].words)\(owner) (\(file):\(line))")
        switch fate {
        case .starts(let command): return head + text(of: command)
        case .cannotStart(let reason): return head + comment("cannot start: \(reason.asOneLine)")
        case .skipped, .takenOver: return ""
        }
    }

    private func text(of command: RunPreview.Command) -> String {
        var text = command.folder.map { comment("folder: \($0)") } ?? ""
        if let shell = command.shell { text += comment("shell: \(shell.map(\.shellWord).joined(separator: " "))") }
        if command.environmentPolicy != .inherit {
            text += comment("env-policy: \(command.environmentPolicy.rawValue)")
        }
        text += variables(command.environment, "env")
        if !command.scriptArguments.isEmpty {
            text += comment("arguments: \(command.scriptArguments.map(\.shellWord).joined(separator: " "))")
        }
        let lines = command.input?.split(separator: "\n", omittingEmptySubsequences: false) ?? []
        for line in lines.prefix(Self.linesShown) { text += comment("stdin: \(line)") }
        if lines.count > Self.linesShown {
            text += comment("stdin: and \((lines.count - Self.linesShown).counted("more line", plural: "more lines"))")
        }
        let body = command.script ?? command.arguments.map(\.shellWord).joined(separator: " ")
        return text + body + (body.hasSuffix("\n") ? "" : "\n")
    }

    private func variables(_ changes: [(name: String, value: String?)], _ title: String) -> String {
        guard !changes.isEmpty else { return "" }
        let words = changes.map { name, value in value.map { "\(name)=\($0.shellWord)" } ?? "-u \(name)" }
        return comment("\(title): \(words.joined(separator: " "))")
    }

    /// Returns nil for a hook's step, about which nothing is known.
    private func resumeWords(of row: PlanIndex) -> String? {
        guard hook(around: row) == nil else { return nil }
        switch preview.forecast[row] {
        case .runs(let reason?): return "runs again: \(reason.words)"
        case .open: return "the run decides whether it is restored"
        case nil where resumes != .some(nil): return "the run decides whether it is restored"
        case .runs(nil), .takenOver, nil: return nil
        }
    }

    // MARK: Rows

    /// Returns the innermost hook that a row is in; nil outside of hooks.
    private func hook(around row: PlanIndex) -> WorkflowNode.Hook? {
        plan.rowAndAround(row).lazy.compactMap { plan.nodes[$0].hook }.first
    }

    private func failuresNeeded(by row: PlanIndex) -> [String] {
        plan.rowAndAround(row).flatMap { plan.edges(of: $0) }.filter { $0.kind == .failure }.map {
            plan.nodes[$0.target].id
        }
    }

    private func questions(of row: PlanIndex) -> [String] {
        asks ? plan.rowAndAround(row).compactMap { plan.confirmation(of: $0) }.reversed() : []
    }

    // MARK: JSON

    /// Returns one JSON object (flowrun(1), JSON ANSWERS).
    func json() -> String {
        JSONWriter.line { json in
            json.object { json in
                if let resumes {
                    json.field("resumes", resumes)
                    json.field("warnings", notes)
                }
                write(preview.environment, to: &json)
                json.array("steps") { json in
                    for case .step(let row, let fate) in preview.entries { write(row, fate, to: &json) }
                }
                json.field("isolated", isolated)
                json.array("vars") { json in
                    for case .value(let id, let group, let fate) in preview.entries {
                        json.object { json in
                            json.field("name", plan.workflow[id].name)
                            json.field("group", plan.nodes[group].id)
                            write(fate, to: &json)
                            let (file, line) = plan.workflow.place(of: id)
                            json.field("file", file)
                            json.field("line", line)
                        }
                    }
                }
            }
        }
    }

    /// The groups that run in a copy of the tree.
    private var isolated: [String] {
        preview.entries.compactMap { if case .copy(let group, _) = $0 { plan.nodes[group].id } else { nil } }
    }

    private func write(_ row: PlanIndex, _ fate: RunPreview.Fate, to json: inout JSONWriter) {
        json.object { json in
            json.field("id", plan.nodes[row].id)
            if case .skipped = fate { json.field("skipped", true) } else { json.field("skipped", false) }
            json.field("hook", hook(around: row).map { $0 == .finally ? "finally" : "on-failure" })
            if resumes != nil {
                let forecast: ResumeForecast? = preview.forecast[row]
                json.field("restored", resumes == .some(nil) ? false : forecast?.isTakenOver)
                json.field("reason", forecast?.reason?.rawValue)
            }
            write(fate, to: &json)
            json.field("file", plan.file(of: row))
            json.field("line", plan.line(of: row))
        }
    }

    private func write(_ fate: RunPreview.Fate, to json: inout JSONWriter) {
        var (command, message): (RunPreview.Command?, String?)
        switch fate {
        case .starts(let found): command = found
        case .cannotStart(let reason), .skipped(let reason): message = reason
        case .takenOver: break
        }
        json.field("message", message)
        guard let command else { return json.null("arguments") }
        json.field("arguments", command.arguments)
        json.field("script", command.script)
        json.field("folder", command.folder)
        json.field("env_policy", command.environmentPolicy.rawValue)
        json.field("conditions", command.conditions)
        json.field("stdin", command.input)
        write(command.environment, to: &json)
    }

    private func write(_ variables: [(name: String, value: String?)], to json: inout JSONWriter) {
        json.array("env") { json in
            for (name, value) in variables {
                json.object { json in
                    json.field("name", name)
                    json.field("value", value)
                }
            }
        }
    }
}

extension ResumeForecast {
    /// nil if it is decided only during the run.
    fileprivate var isTakenOver: Bool? { self == .open ? nil : self == .takenOver }

    fileprivate var reason: RerunReason? { if case .runs(let reason) = self { reason } else { nil } }
}
