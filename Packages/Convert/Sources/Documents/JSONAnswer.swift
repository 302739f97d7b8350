internal import Syntax

/// The answer of a tool in JSON, which is YAML but for the blanks behind its colons.
struct JSONAnswer {
    private let document: YAMLDocument

    init?(_ text: String) {
        var spaced = ""
        var isInText = false
        var isEscaped = false
        for character in text {
            // Blanks between values mean nothing, and YAML takes no tabs.
            spaced.append(!isInText && character == "\t" ? " " : character)
            if isInText {
                if character == "\"", !isEscaped { isInText = false }
                isEscaped = character == "\\" && !isEscaped
            } else if character == "\"" {
                isInText = true
            } else if character == ":" {
                spaced.append(" ")
            }
        }
        guard let document = YAMLParser.parse(SourceFile(name: "answer", text: spaced)).document else { return nil }
        self.document = document
    }

    func read<Result>(_ body: (YAMLNode) throws -> Result) rethrows -> Result { try document.withRoot(body) }
}

extension YAMLNode {
    /// The value of a key; nil for `null` and where there is none.
    func value(_ key: String) -> YAMLNode? {
        entries.first { $0.key.text == key }.flatMap { $0.value.isNull ? nil : $0.value }
    }

    var isNull: Bool { kind == .scalar && isPlain && text == "null" }
    var isTrue: Bool { kind == .scalar && isPlain && text == "true" }
    /// The text of a JSON text; nil for anything else.
    var quoted: String? { kind == .scalar && !isPlain ? text : nil }
}

extension WorkflowDraft {
    /// Adds the steps of another file of the same tool under new ids, if it needs nothing else; returns false if it
    /// does.
    mutating func add(_ other: WorkflowDraft, renamed: [String: String], in folder: String?) -> Bool {
        guard other.params.isEmpty, other.vars.isEmpty, other.secrets.isEmpty, other.env.isEmpty,
            other.settings.allSatisfy({ $0.key == "defaults" }), let shell = other.defaultShell,
            let ownShell = defaultShell
        else { return false }
        for var step in other.steps {
            step.id = renamed[step.id] ?? step.id
            step.needs = step.needs.map { renamed[$0] ?? $0 }
            step.isManual = true
            if case .script = step.body {
                if let folder { step.set("working-directory", .text(folder)) }
                if shell != ownShell, !step.settings.contains(where: { $0.key == "shell" }) { step.set("shell", shell) }
            }
            steps.append(step)
        }
        return true
    }

    /// The shell of all steps; nil if they have more in common, such as a folder.
    private var defaultShell: YAMLValue? {
        guard let defaults = settings.first(where: { $0.key == "defaults" }),
            case .inline(let entries) = defaults.value,
            entries.count == 1, entries[0].key == "shell"
        else { return nil }
        return entries[0].value
    }
}
