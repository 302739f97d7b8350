internal import SourceDiagnostics
internal import YAMLSyntax

extension WorkflowDecoder {
    /// `outputs` of a step: names to types.
    mutating func stepOutputs(_ entry: MappingReader.Entry?) -> [OutputDeclaration] {
        outputs(entry, expected: "a mapping of names to types such as `{ version: string }`") { decoder, entry in
            decoder.stepOutput(entry)
        }
    }

    /// `outputs` of a group or the workflow: names to expressions.
    mutating func groupOutputs(_ entry: MappingReader.Entry?) -> [OutputDeclaration] {
        outputs(entry, expected: "a mapping of names to expressions") { decoder, entry in
            decoder.groupOutput(entry).map(OutputDeclaration.Source.expression)
        }
    }

    private mutating func outputs(
        _ entry: MappingReader.Entry?, expected: String,
        source: (inout WorkflowDecoder, MappingReader.Entry) -> OutputDeclaration.Source?
    ) -> [OutputDeclaration] {
        guard let entry else { return [] }
        guard entry.value.kind == .mapping else {
            reportType(entry, expected: expected)
            return []
        }
        var outputs: [OutputDeclaration] = []
        for (key, value) in entry.value.entries where checkName(key, of: "an output") {
            guard let source = source(&self, MappingReader.Entry(key: key, value: value)) else { continue }
            outputs.append(OutputDeclaration(name: key.text, source: source, range: key.range))
        }
        return outputs
    }

    /// A type, or `{ type, from: stdout }`. One that is wrong is there all the same, of any type.
    private mutating func stepOutput(_ entry: MappingReader.Entry) -> OutputDeclaration.Source {
        guard entry.value.kind == .mapping else {
            if isExpression(entry.value) {
                reportComputed(entry)
                return .file(.json)
            }
            return .file(outputKind(entry) ?? .json)
        }
        let fields = fields(entry.value, of: .output)
        let kind = fields.take("type").map { outputKind($0) ?? .json } ?? .string
        guard let from = fields.take("from") else { return .file(kind) }
        _ = word(from, of: ["stdout"])
        return .standardOutput(kind)
    }

    /// In other tools an expression says what a step hands on.
    private mutating func reportComputed(_ entry: MappingReader.Entry) {
        let name = Phrase.quoted(entry.key.text)
        refuse(entry.value)
        report(
            .wrongType, "\(name) takes the type of what the step writes, found an expression", at: entry.value,
            fix: .init("write a type such as `string`, and let the script append `NAME=value` to \"$FLOWRUN_OUTPUT\""))
    }

    private mutating func outputKind(_ entry: MappingReader.Entry) -> OutputDeclaration.Kind? {
        typeWord(entry, of: OutputDeclaration.Kind.allCases.map(\.rawValue)).flatMap(OutputDeclaration.Kind.init)
    }

    private mutating func groupOutput(_ entry: MappingReader.Entry) -> Template? {
        let value = entry.value
        let expected = "an expression in `${{ }}` over the outputs of members"
        guard value.kind == .scalar, !value.isNull else {
            reportType(entry, expected: expected)
            return nil
        }
        let template = template(value)
        guard let text = template.literal else { return template }
        let fix = Self.looksLikeExpression(text) ? replacing(value, by: Self.braced(text)) : nil
        reportType(entry, expected: expected, fix: fix)
        return nil
    }

    /// Whether a text was most likely meant as an expression whose braces are missing.
    static func looksLikeExpression(_ text: String) -> Bool {
        ["steps.", "params.", "previous.", "fromJSON("].contains(where: text.hasPrefix)
    }

    /// A text as an expression in a double-quoted scalar, which flow collections take, too.
    static func braced(_ text: String) -> String { quoted("${{ \(text) }}") }
}
