internal import Syntax

/// The answer of `just --dump --dump-format json`: the file with all that it imports.
struct JustDump {
    /// A justfile of the same content in one piece; nil if something in it has no spelling here.
    private(set) var text: String?
    /// The modules, by their paths: `tools`, `tools::lint`.
    private(set) var modules: [Module] = []
    /// The folder of the file, with a slash at its end.
    private let folder: String

    struct Module {
        let path: String
        /// A justfile of its recipes; nil if something in it has no spelling here, or if it has values of its own.
        let text: String?
        let recipes: [(name: String, doc: String?)]
        /// The path of its file.
        let file: String
    }

    /// Recipes are put in the order of `names`, as far as they are among them.
    init?(_ answer: String, order names: [String]) {
        guard let json = JSONAnswer(answer) else { return nil }
        var order: [String: Int] = [:]
        for (index, name) in names.enumerated() where order[name] == nil { order[name] = index }
        let (text, modules, source) = json.read { root in
            (try? Writer.file(root, order), Self.modules(of: root, below: ""), root.value("source")?.text ?? "")
        }
        self.text = text
        folder = source.lastIndex(of: "/").map { String(source[...$0]) } ?? ""
        self.modules = modules
    }

    private static func modules(of node: YAMLNode, below path: String) -> [Module] {
        (node.value("modules")?.entries.map { ($0.key.text, $0.value) } ?? []).flatMap { name, module -> [Module] in
            let path = path.isEmpty ? name : "\(path)::\(name)"
            let recipes = module.value("recipes")?.entries.map { $0.value } ?? []
            let hasValues =
                module.value("assignments")?.isEmptyCollection == false
                || module.value("settings")?.entries.contains { !isOff($0.value) } == true
            let own = Module(
                path: path, text: hasValues ? nil : try? Writer.file(module, [:]),
                recipes: recipes.filter { $0.value("private")?.isTrue != true }.map {
                    ($0.value("name")?.text ?? "", $0.value("doc")?.text)
                }, file: module.value("source")?.text ?? "")
            return [own] + modules(of: module, below: path)
        }
    }

    private static func isOff(_ value: YAMLNode) -> Bool {
        value.isNull || value.isEmptyCollection || value.kind == .scalar && value.isPlain && value.text == "false"
    }

    /// Something that this file does not know how to spell.
    private struct Unknown: Error {}

    /// Spells the tree as a justfile.
    private enum Writer {
        static func file(_ root: YAMLNode, _ order: [String: Int]) throws(Unknown) -> String {
            var lines: [String] = []
            for (key, value) in root.value("settings")?.entries.map({ ($0.key.text, $0.value) }) ?? [] {
                guard !isOff(value) else { continue }
                lines.append("set \(key.replacing("_", with: "-"))\(try setting(value))")
            }
            for name in root.value("unexports")?.elements.map(\.text) ?? [] { lines.append("unexport \(name)") }
            for assignment in root.value("assignments")?.entries.map(\.value) ?? [] {
                guard let name = assignment.value("name")?.text, let value = assignment.value("value") else {
                    throw Unknown()
                }
                let export = assignment.value("export")?.isTrue == true ? "export " : ""
                lines.append("\(export)\(name) := \(try expression(value))")
            }
            let first = root.value("first")?.text
            let recipes = (root.value("recipes")?.entries.map { ($0.key.text, $0.value) } ?? []).sorted { one, other in
                let places = [one, other].map { $0.0 == first ? -1 : order[$0.0] ?? .max }
                return places[0] == places[1] ? one.0 < other.0 : places[0] < places[1]
            }
            for (_, recipe) in recipes { lines += [""] + (try spelling(ofRecipe: recipe)) }
            for alias in root.value("aliases")?.entries.map(\.value) ?? [] {
                guard let name = alias.value("name")?.text, let target = alias.value("target")?.text else {
                    throw Unknown()
                }
                lines += ["", "alias \(name) := \(target)"]
            }
            return lines.map { $0 + "\n" }.joined()
        }

        private static func setting(_ value: YAMLNode) throws(Unknown) -> String {
            if value.isTrue { return "" }
            if let text = value.quoted { return " := \(quote(text))" }
            guard let command = value.value("command")?.quoted else { throw Unknown() }
            let words = [command] + (value.value("arguments")?.elements.map(\.text) ?? [])
            return " := [\(words.map(quote).joined(separator: ", "))]"
        }

        private static func spelling(ofRecipe recipe: YAMLNode) throws(Unknown) -> [String] {
            guard let name = recipe.value("name")?.text else { throw Unknown() }
            var lines = recipe.value("doc").map { $0.text.split(separator: "\n").map { "# \($0)" } } ?? []
            for attribute in recipe.value("attributes")?.elements.map({ $0 }) ?? [] {
                lines.append("[\(try spelling(ofAttribute: attribute))]")
            }
            var head = recipe.value("quiet")?.isTrue == true ? "@\(name)" : name
            for parameter in recipe.value("parameters")?.elements.map({ $0 }) ?? [] {
                head += " \(try spelling(ofParameter: parameter))"
            }
            let needs = recipe.value("dependencies")?.elements.map { $0 } ?? []
            let priors = recipe.value("priors").flatMap { Int($0.text) } ?? needs.count
            head += ":"
            for (index, need) in needs.enumerated() {
                head += index == priors ? " && " : " "
                head += try spelling(ofNeed: need)
            }
            lines.append(head)
            for line in recipe.value("body")?.elements.map({ $0 }) ?? [] {
                var text = ""
                for part in line.elements {
                    if let literal = part.quoted {
                        text += literal.replacing("{{", with: "{{{{")
                    } else {
                        guard let inner = part.elements.first(where: { _ in true }) else { throw Unknown() }
                        text += "{{ \(try expression(inner)) }}"
                    }
                }
                lines.append(text.isEmpty ? "" : "    \(text)")
            }
            return lines
        }

        private static func spelling(ofAttribute node: YAMLNode) throws(Unknown) -> String {
            if let word = node.quoted { return word }
            guard let (key, value) = node.entries.first(where: { _ in true }) else { throw Unknown() }
            if value.isNull { return key.text }
            if let text = value.quoted { return "\(key.text)(\(quote(text)))" }
            if value.kind == .sequence {
                return "\(key.text)(\(value.elements.map { quote($0.text) }.joined(separator: ", ")))"
            }
            guard let command = value.value("command")?.quoted else { throw Unknown() }
            let words = [command] + (value.value("arguments")?.elements.map(\.text) ?? [])
            return "\(key.text)(\(words.map(quote).joined(separator: ", ")))"
        }

        private static func spelling(ofParameter node: YAMLNode) throws(Unknown) -> String {
            let plain: Set<String> = ["default", "export", "kind", "name", "help"]
            let others = node.entries.filter { !plain.contains($0.key.text) && !isOff($0.value) }
            guard others.isEmpty, let name = node.value("name")?.text, let kind = node.value("kind")?.text else {
                throw Unknown()
            }
            let mark = kind == "plus" ? "+" : kind == "star" ? "*" : ""
            let dollar = node.value("export")?.isTrue == true ? "$" : ""
            guard let value = node.value("default") else { return mark + dollar + name }
            return "\(mark)\(dollar)\(name)=\(try expression(value))"
        }

        private static func spelling(ofNeed node: YAMLNode) throws(Unknown) -> String {
            guard let name = node.value("recipe")?.text, node.value("star") == nil else { throw Unknown() }
            var words: [String] = []
            for argument in node.value("arguments")?.elements.map({ $0 }) ?? [] {
                words.append(try expression(argument))
            }
            return words.isEmpty ? name : "(\(([name] + words).joined(separator: " ")))"
        }

        private static func expression(_ node: YAMLNode) throws(Unknown) -> String {
            if let text = node.quoted { return quote(text) }
            let parts = node.kind == .sequence ? node.elements.map { $0 } : []
            guard let kind = parts.first?.quoted else { throw Unknown() }
            var inner: [String] = []
            if !["variable", "evaluate", "call", "if", "join"].contains(kind) {
                for part in parts.dropFirst() { inner.append(try expression(part)) }
            }
            switch (kind, parts.count) {
            case ("variable", 2): return parts[1].text
            case ("evaluate", 2): return parts[1].text.contains("`") ? "```\(parts[1].text)```" : "`\(parts[1].text)`"
            case ("concatenate", 3): return "(\(inner[0]) + \(inner[1]))"
            case ("format", _): return "(\(inner.joined(separator: " + ")))"
            case ("and", 3): return "(\(inner[0]) && \(inner[1]))"
            case ("or", 3): return "(\(inner[0]) || \(inner[1]))"
            case ("join", 3):
                let right = try expression(parts[2])
                return parts[1].isNull ? "(/ \(right))" : "(\(try expression(parts[1])) / \(right))"
            case ("call", 2...):
                for part in parts.dropFirst(2) { inner.append(try expression(part)) }
                return "\(parts[1].text)(\(inner.joined(separator: ", ")))"
            case ("if", 4):
                let test = parts[1].elements.map { $0 }
                guard test.count == 3, let sign = test[0].quoted else { throw Unknown() }
                let condition = "\(try expression(test[1])) \(sign) \(try expression(test[2]))"
                return "if \(condition) { \(try expression(parts[2])) } else { \(try expression(parts[3])) }"
            default: throw Unknown()
            }
        }

        private static func quote(_ text: String) -> String {
            guard text.contains("'") || text.contains("\n") else { return "'\(text)'" }
            let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
                .replacing("\n", with: "\\n").replacing("\t", with: "\\t").replacing("\r", with: "\\r")
            return "\"\(escaped)\""
        }
    }
}

extension JustDump {
    /// Converts a justfile with it: own reading, or that of the dump where it leaves fewer steps to be filled in, and
    /// the recipes of modules.
    func draft(besides own: WorkflowDraft, of source: SourceLines, in folder: ForeignFolder) -> WorkflowDraft {
        var draft = own
        if let text, !own.unfinishedIDs.isEmpty {
            let whole = JustfileConversion.draft(of: SourceLines(name: source.name, text: text), in: folder)
            if whole.unfinishedIDs.count < own.unfinishedIDs.count {
                draft = whole
                draft.head.append("Places are lines of what just printed, which has no comments.")
            }
        }
        var ids = StepIDs()
        for step in draft.steps { _ = ids.id(for: step.id) }
        for module in modules { add(module, to: &draft, &ids) }
        return draft
    }

    private func add(_ module: Module, to draft: inout WorkflowDraft, _ ids: inout StepIDs) {
        // Its recipes run in its own folder.
        let place = module.file.lastIndex(of: "/").map { String(module.file[...$0]) } ?? ""
        if let text = module.text, !["::", "directory()", "justfile("].contains(where: text.contains), !folder.isEmpty,
            place.hasPrefix(folder)
        {
            let other = JustfileConversion.draft(of: SourceLines(name: module.path, text: text), in: .unknown)
            var renamed: [String: String] = [:]
            for step in other.steps { renamed[step.id] = ids.id(for: "\(module.path)::\(step.id)") }
            if draft.add(
                other, renamed: renamed, in: place == folder ? nil : String(place.dropFirst(folder.count).dropLast()))
            {
                return
            }
        }
        for recipe in module.recipes {
            let name = "\(module.path)::\(recipe.name)"
            var step = StepDraft(
                ids.id(for: name), .unfinished("the module `\(module.path)` has values, settings or calls of its own"))
            (step.name, step.description, step.isManual) = (name, recipe.doc, true)
            draft.steps.append(step)
        }
    }
}
