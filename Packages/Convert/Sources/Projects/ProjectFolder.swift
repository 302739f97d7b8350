internal import Syntax

/// A folder without a workflow file, from whose content a first one can be made.
package struct ProjectFolder {
    private let names: Set<String>
    private let text: (String) -> String?

    /// `names` are those of the folder's files and folders; `text` reads one of them, nil if it cannot.
    package init(names: Set<String>, text: @escaping (String) -> String?) {
        self.names = names
        self.text = text
    }

    /// The tools that the folder's files are for, in the order of the workflow.
    private var tools: [ProjectTool] {
        var tools = ProjectTool.known.filter { tool in tool.files.contains(where: names.contains) }
        if let tool = nodeTool { tools.append(tool) }
        if let tool = pythonTool { tools.append(tool) }
        // make would only repeat what other tools do already.
        if tools.isEmpty, let tool = makeTool { tools.append(tool) }
        return tools
    }

    /// The files that were found: `Package.swift`, `Makefile`.
    package var found: [String] { tools.compactMap { $0.files.first(where: names.contains) } }

    /// Files that `flowrun init --from` would convert.
    package var convertible: [String] {
        let known = ["Makefile", "makefile", "GNUmakefile", "justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml"]
        return known.filter(names.contains)
    }

    /// A first workflow for the folder; two example steps if nothing is known about it.
    package var draft: WorkflowDraft {
        var draft = WorkflowDraft()
        draft.head = [
            "What there is to do in this folder.", "",
            "    flowrun          run it, side by side as far as `needs` allows",
            "    flowrun STEP     run one step and what it needs",
            "    flowrun list     show what there is",
            "", "flowrun-workflow(5) describes the keys: needs, env, params, matrix, timeout, …",
        ]
        let tools = tools
        switch tools.count {
        case 0: draft.steps = Self.example
        case 1: draft.steps = tools[0].steps(comment: "from \(found.joined())")
        default:
            draft.steps = zip(tools, found).map { tool, file in
                var group = StepDraft(tool.id, .group(tool.steps(comment: nil)))
                group.comments = ["from \(file)"]
                return group
            }
        }
        return draft
    }

    private static var example: [StepDraft] {
        var hello = StepDraft("hello", .script("echo \"hello from flowrun\""))
        hello.comments = ["a step: its id, and the command that it runs"]
        var goodbye = StepDraft("goodbye", .script("echo \"goodbye\""))
        goodbye.comments = ["one that starts when `hello` has succeeded"]
        goodbye.needs = ["hello"]
        return [hello, goodbye]
    }

    // MARK: - Files with further content

    /// The scripts of `package.json`.
    private var nodeTool: ProjectTool? {
        guard names.contains("package.json") else { return nil }
        let managers = [
            ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
            ("yarn.lock", "yarn", "yarn install --immutable"),
            ("bun.lockb", "bun", "bun install"), ("bun.lock", "bun", "bun install"),
            ("package-lock.json", "npm", "npm ci"),
        ]
        let (_, manager, install) = managers.first { names.contains($0.0) } ?? ("", "npm", "npm install")
        var steps = [ProjectTool.Step("install", install)]
        let scripts = text("package.json").map(Self.scripts) ?? []
        for script in scripts where ProjectTool.usualScripts.contains(script) {
            let isManual = ["dev", "start", "serve", "watch", "clean"].contains(script)
            let needs = script.hasPrefix("test") && scripts.contains("build") ? ["build"] : ["install"]
            steps.append(
                ProjectTool.Step(
                    script.replacing(":", with: "-"), "\(manager) run \(script)", needs: needs, isManual: isManual))
        }
        return ProjectTool(id: "node", files: ["package.json"], steps: steps)
    }

    /// For this purpose, JSON is YAML.
    private static func scripts(of text: String) -> [String] {
        let file = SourceFile(name: "package.json", text: text.replacing("\t", with: "  "))
        return YAMLParser.parse(file).document?.withRoot { root in
            var fields = YAMLFields(root)
            return fields.take("scripts")?.entries.map(\.key.text) ?? []
        } ?? []
    }

    private var pythonTool: ProjectTool? {
        guard names.contains("pyproject.toml") || names.contains("setup.py") || names.contains("requirements.txt")
        else {
            return nil
        }
        let settings = text("pyproject.toml") ?? ""
        let runner =
            names.contains("uv.lock") ? "uv run " : names.contains("poetry.lock") ? "poetry run " : "python3 -m "
        var steps: [ProjectTool.Step] = []
        if settings.contains("ruff") { steps.append(ProjectTool.Step("lint", "\(runner)ruff check .")) }
        if settings.contains("mypy") { steps.append(ProjectTool.Step("types", "\(runner)mypy .")) }
        steps.append(ProjectTool.Step("test", "\(runner)pytest"))
        return ProjectTool(id: "python", files: ["pyproject.toml", "setup.py", "requirements.txt"], steps: steps)
    }

    /// The usual targets of a makefile.
    private var makeTool: ProjectTool? {
        let files = ["GNUmakefile", "makefile", "Makefile"]
        guard let file = files.first(where: names.contains) else { return nil }
        let source = SourceLines(name: file, text: text(file) ?? "")
        var targets: Set<String> = []
        for statement in MakeReader.statements(of: source) {
            if case .rule(let rule) = statement.content { targets.formUnion(rule.targets.words) }
        }
        let build = ["build", "all"].first(where: targets.contains)
        var steps = [ProjectTool.Step("build", build.map { "make \($0)" } ?? "make")]
        for target in ["lint", "test", "check", "docs", "install", "clean"] where targets.contains(target) {
            let isManual = target == "install" || target == "clean"
            let needs = target == "lint" || target == "clean" ? [] : ["build"]
            steps.append(ProjectTool.Step(target, "make \(target)", needs: needs, isManual: isManual))
        }
        return ProjectTool(id: "make", files: [file], steps: steps)
    }
}
