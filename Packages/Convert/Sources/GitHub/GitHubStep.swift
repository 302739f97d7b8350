internal import Syntax

/// Converts the steps of one job.
struct GitHubStep {
    enum Result {
        case step(StepDraft)
        /// Nothing to run; the original lines as comments.
        case comment([String])
    }

    let source: YAMLSource
    /// The interpreter of the job's scripts; nil for the default.
    let shell: String?
    /// The outputs that other steps read, by the id of their step.
    let reads: [String: [String]]
    /// The values that variables of the job are known to have: axes, parameters, variables of the environment.
    let values: [String: [String]]
    /// True in a job whose steps run in another folder than that of the file.
    let isElsewhere: Bool
    /// The secrets that steps of the job use, with the variables that have them.
    private(set) var secrets: [(name: String, variable: String)] = []

    init(
        source: YAMLSource, shell: String?, reads: [String: [String]], values: [String: [String]], isElsewhere: Bool
    ) {
        self.source = source
        self.shell = shell
        self.reads = reads
        self.values = values
        self.isElsewhere = isElsewhere
    }

    mutating func convert(_ node: YAMLNode, ids: inout StepIDs) -> Result {
        var fields = YAMLFields(node)
        let origin = source.excerpt(node)
        let name = fields.takeText("name")
        let id = fields.takeText("id")
        if let action = fields.takeText("uses") { return convert(action, name, id, &fields, node, origin, &ids) }
        let script = fields.takeText("run")
        let known = id.map { ids.id(for: $0) } ?? ids.id(like: name?.lowercased() ?? Self.firstWords(of: script ?? ""))
        var step = StepDraft(known, .milestone, origin: origin)
        setName(name, of: &step)
        step.comments = source.comment(above: node)
        do throws(GitHubProblem) {
            guard let script else { throw GitHubProblem("it has neither `run` nor `uses`") }
            try setBody(script, of: &step, &fields, outputs: id.flatMap { reads[$0] } ?? [])
            if let key = fields.firstKey { throw GitHubProblem("`\(key)` was not understood") }
        } catch {
            step.giveUp(error.reason)
        }
        return .step(step)
    }

    private mutating func convert(
        _ action: String, _ name: String?, _ id: String?, _ fields: inout YAMLFields, _ node: YAMLNode,
        _ origin: Excerpt, _ ids: inout StepIDs
    ) -> Result {
        let outputs = id.flatMap { reads[$0] } ?? []
        var step = StepDraft("", .milestone, origin: origin)
        var replacement = GitHubAction.Replacement.unfinished("")
        do throws(GitHubProblem) {
            let with = fields.take("with")
            replacement = try GitHubAction.replacement(for: action, with, outputs: outputs) {
                text throws(GitHubProblem) in try quoted(text, of: &step)
            }
        } catch {
            replacement = .unfinished(error.reason)
        }
        if case .nothing(let reason) = replacement { return .comment(origin.comments(reason)) }
        step.id = id.map { ids.id(for: $0) } ?? ids.id(like: name?.lowercased() ?? Self.shortName(of: action))
        setName(name, of: &step)
        step.comments = source.comment(above: node)
        for output in outputs {
            step.outputs.append(YAMLEntry(GitHubExpression.variableName(output), .word("string")))
        }
        do throws(GitHubProblem) {
            guard case .script(let script) = replacement else {
                if case .unfinished(let reason) = replacement { throw GitHubProblem(reason) }
                return .step(step)
            }
            try setSettings(of: &step, &fields)
            if let key = fields.firstKey { throw GitHubProblem("`\(key)` was not understood") }
            step.notes += origin.comments("in place of this action")
            step.body = .script(script)
        } catch {
            step.giveUp(error.reason)
        }
        return .step(step)
    }

    /// Returns a text with expressions for the inside of double quotes.
    private mutating func quoted(_ text: String, of step: inout StepDraft) throws(GitHubProblem) -> String {
        let script = try script("\"\(text)\"", isShell: true, of: &step)
        guard !text.contains(where: { "\"\\`".contains($0) }), !text.replacing("${{", with: "").contains("$") else {
            throw GitHubProblem("an input has characters of the shell")
        }
        return String(script.dropFirst().dropLast())
    }

    private func setName(_ name: String?, of step: inout StepDraft) {
        guard let name, name != step.id else { return }
        if name.contains("${{") { step.notes.append("not converted: name: \(name)") } else { step.name = name }
    }

    private mutating func setBody(
        _ script: String, of step: inout StepDraft, _ fields: inout YAMLFields, outputs: [String]
    ) throws(GitHubProblem) {
        for (key, value) in fields.take("env")?.entries.map({ ($0.key.text, $0.value) }) ?? [] {
            try setVariable(key, value.text, of: &step)
        }
        let ownShell = fields.takeText("shell")
        if let ownShell { step.set("shell", try Self.shell(ownShell)) }
        try setSettings(of: &step, &fields)
        let names = (outputs + Self.written(in: script)).unique
        for name in names { step.outputs.append(YAMLEntry(GitHubExpression.variableName(name), .word("string"))) }
        if script.contains("GITHUB_ENV") || script.contains("GITHUB_PATH") {
            throw GitHubProblem("no step changes the environment of later ones")
        }
        for command in ["::set-output", "::set-env", "::add-path"] where script.contains(command) {
            throw GitHubProblem("`\(command)` is a command to GitHub's runner")
        }
        if ShellShape(script).leavesProcess { throw GitHubProblem("`&` leaves a process when the step has ended") }
        let isShell = ["bash", "sh", nil].contains(ownShell ?? shell)
        var text = try self.script(script, isShell: isShell, of: &step)
        text = text.replacing("GITHUB_OUTPUT", with: "FLOWRUN_OUTPUT")
        if isShell, text.contains("GITHUB_STEP_SUMMARY") {
            text = "GITHUB_STEP_SUMMARY=\"${GITHUB_STEP_SUMMARY:-/dev/null}\"\n\(text)"
        }
        while text.last?.isWhitespace == true { text.removeLast() }
        let before = try runnerVariables(of: text, isShell: isShell, step)
        step.body = .script(text.isEmpty ? ":" : (before + [text]).joined(separator: "\n"))
    }

    private func setSettings(of step: inout StepDraft, _ fields: inout YAMLFields) throws(GitHubProblem) {
        if let condition = fields.takeText("if") { step.condition = try Self.condition(condition) }
        if let folder = fields.takeText("working-directory") {
            step.set("working-directory", .text(try Self.template(folder)))
        }
        if let minutes = fields.takeText("timeout-minutes") { step.set("timeout", try Self.minutes(minutes)) }
        if fields.takeFlag("continue-on-error") == true { step.set("continue-on-error", .word("true")) }
    }

    /// Returns lines that refuse what GitHub's runner sets and nothing sets here.
    private func runnerVariables(
        of text: String, isShell: Bool, _ step: StepDraft
    ) throws(GitHubProblem) -> [String] {
        let set: Set<String> = ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"]
        let names = ShellWords.names(readIn: text).filter {
            ($0.hasPrefix("GITHUB_") || $0.hasPrefix("RUNNER_")) && !set.contains($0) && values[$0] == nil
                && !step.secrets.contains($0)
        }
        let own = Set(step.env.map(\.key))
        let missing = names.subtracting(own).sorted()
        let folder = text.contains("$github_workspace") || text.contains("${github_workspace}")
        guard !missing.isEmpty || folder else { return [] }
        guard isShell else { throw GitHubProblem("it reads `\(missing.first ?? "")`, which GitHub's runner sets") }
        var lines: [String] = []
        for name in missing
        where name != "GITHUB_WORKSPACE" && !text.contains("${\(name):") && !text.contains("${\(name)-") {
            lines.append(": \"${\(name):?GitHub's runner sets it}\"")
        }
        if folder || missing.contains("GITHUB_WORKSPACE") {
            if isElsewhere || step.settings.contains(where: { $0.key == "working-directory" }) {
                throw GitHubProblem("it runs in another folder than that of the file, and needs both")
            }
            if folder { lines.append("github_workspace=$PWD") }
            if missing.contains("GITHUB_WORKSPACE") { lines.append("export GITHUB_WORKSPACE=\"$PWD\"") }
        }
        return lines
    }

    // MARK: - Values

    /// Sets a variable of the step, or a secret under its name.
    mutating func setVariable(_ name: String, _ text: String, of step: inout StepDraft) throws(GitHubProblem) {
        if let secret = Self.secret(text) {
            want(name, from: secret, in: &step)
        } else {
            step.env.append(YAMLEntry(name, .text(try Self.template(text))))
        }
    }

    mutating func want(_ name: String, from variable: String, in step: inout StepDraft) {
        if !secrets.contains(where: { $0.name == name }) { secrets.append((name, variable)) }
        if !step.secrets.contains(name) { step.secrets.append(name) }
    }

    /// The secret that the whole text consists of; nil for any other text.
    static func secret(_ text: String) -> String? {
        let pieces = GitHubExpression.pieces(of: text)
        guard pieces.count == 1, case .expression(let expression)? = pieces.first,
            case .secret(let name) = GitHubExpression.reading(of: expression)
        else { return nil }
        return name
    }

    /// Translates the expressions of a text.
    static func template(_ text: String) throws(GitHubProblem) -> String {
        var result = ""
        for piece in GitHubExpression.pieces(of: text) {
            switch piece {
            case .text(let text): result += text
            case .expression("github.workspace"): result += "."
            case .expression(let expression):
                guard let translation = GitHubExpression.translation(of: expression) else {
                    throw GitHubProblem("flowrun has nothing like `${{ \(expression) }}`")
                }
                result += GitHubExpression.braced(translation)
            }
        }
        return result
    }

    /// Translates a condition, with or without its braces.
    static func condition(_ text: String) throws(GitHubProblem) -> String {
        let pieces = GitHubExpression.pieces(of: text.trimmed)
        var expression = text.trimmed
        if pieces.count == 1, case .expression(let inner)? = pieces.first { expression = inner }
        guard let translation = GitHubExpression.translation(of: expression) else {
            throw GitHubProblem("flowrun has nothing like the condition `\(expression)`")
        }
        return translation
    }

    static func minutes(_ text: String) throws(GitHubProblem) -> YAMLValue {
        guard let minutes = Int(text), minutes > 0 else {
            throw GitHubProblem("`timeout-minutes: \(text)` is computed")
        }
        return .word(minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes)m")
    }

    static func shell(_ name: String) throws(GitHubProblem) -> YAMLValue {
        switch name {
        case "bash", "sh": return .text(name)
        case "python": return .texts(["python3", "-c"])
        default: throw GitHubProblem("`shell: \(name)` takes its script as a file, in a way of its own")
        }
    }

    /// Returns a script with variables in place of `${{ … }}`.
    private mutating func script(
        _ text: String, isShell: Bool, of step: inout StepDraft
    ) throws(GitHubProblem) -> String {
        var script = ShellText()
        for piece in GitHubExpression.pieces(of: text) {
            guard case .expression(let expression) = piece else {
                if case .text(let text) = piece { script.append(text) }
                continue
            }
            guard isShell else { throw GitHubProblem("only a shell can read values in place of `${{ … }}`") }
            switch GitHubExpression.reading(of: expression) {
            case .variable("PWD"): script.append(variable: "github_workspace")
            case .variable(let name):
                for value in values[name] ?? [] where !script.readsAlike(value) {
                    throw GitHubProblem(
                        "in the place of `${{ \(expression) }}` a shell does not read a variable like `\(value)`")
                }
                script.append(variable: name)
            case .runnerVariable(let name): script.append(expansion: "\(name):?")
            case .secret(let name):
                want(name, from: name, in: &step)
                script.append(variable: name)
            case .expression(let translation):
                for text in GitHubExpression.texts(in: translation) where !script.readsAlike(text) {
                    throw GitHubProblem(
                        "in the place of `${{ \(expression) }}` a shell does not read a variable like `\(text)`")
                }
                let name = GitHubExpression.environmentName(of: expression)
                if !step.env.contains(where: { $0.key == name }) {
                    step.env.append(YAMLEntry(name, .text(GitHubExpression.braced(translation))))
                }
                script.append(variable: name)
            case .unknown: throw GitHubProblem("flowrun has nothing like `${{ \(expression) }}`")
            }
        }
        let result = script.finish()
        if let problem = script.problem { throw GitHubProblem(problem) }
        return result
    }

    /// The outputs that a script seems to write.
    private static func written(in script: String) -> [String] {
        script.split(separator: "\n").filter { $0.contains("GITHUB_OUTPUT") }.compactMap { line in
            guard let equals = line.firstIndex(of: "=") ?? line.firstRange(of: "<<")?.lowerBound else { return nil }
            let name = String(line[..<equals].reversed().prefix { $0.isIDCharacter }.reversed())
            return name.isEmpty || name.first?.isNumber == true ? nil : name
        }
    }

    // MARK: - Names

    private static func shortName(of action: String) -> String {
        let path = action.prefix { $0 != "@" }
        return path.split(separator: "/").last.map(String.init) ?? "action"
    }

    /// Names a step by what it calls: `npm ci`, `cargo test`.
    private static func firstWords(of script: String) -> String {
        let words = script.split(separator: "\n").first { !$0.isBlank }?.words ?? []
        let plain = words.filter { $0.first?.isLetter == true && $0.allSatisfy { $0.isIDCharacter } }
        return plain.isEmpty ? "commands" : plain.prefix(2).joined(separator: "-")
    }
}

/// The reason why a part of a GitHub workflow cannot be converted.
struct GitHubProblem: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
