import FlowrunTestSupport
import Foundation
import Workflow

/// The schema of workflow files: the shapes of `WorkflowShapes.json`, with the words of the table of keys and of the
/// model in the places that a `$` marks.
enum WorkflowSchemaText {
    static func text() throws -> String {
        try PackageDocument("Tests/FlowrunDocumentationTests/WorkflowShapes.json").lines
            .map { try filled(String($0)) }.joined(separator: "\n")
    }

    /// A line of the shapes, or what it stands for.
    private static func filled(_ line: String) throws -> String {
        guard let mark = line.wholeMatch(of: /(?<indent> *)"(?<key>\w+)": "\$(?<kind>\w+) (?<name>\w+)"(?<end>,?)/)
        else {
            return line
        }
        let indent = String(mark.indent)
        let inside =
            switch mark.kind {
            case "keys": try lines(ofPlace: String(mark.name))
            case "fields": try lines(ofFields: String(mark.name))
            default: try words(of: String(mark.name)).map { [try quoted($0)] }
            }
        let (open, close) = mark.kind == "words" ? ("[", "]") : ("{", "}")
        let body = inside.map { $0.map { "\(indent)  \($0)" }.joined(separator: "\n") }.joined(separator: ",\n")
        return "\(indent)\"\(mark.key)\": \(open)\n\(body)\n\(indent)\(close)\(mark.end)"
    }

    private static func lines(ofPlace name: String) throws -> [[String]] {
        let place = try required(KeyPlace.allCases.first { "\($0)" == name }, name)
        return try place.keys.map {
            let (definition, type) = ($0.definition, $0.definition.type(in: place))
            let limits = "{ \"minimum\": \(definition.range.lowerBound), \"maximum\": \(definition.range.upperBound) }"
            return try property(
                $0.spelling, type, definition.documentation(in: place), standard: definition.standard.map { "\($0)" },
                limits: type == .wholeNumber ? ", \(limits)" : "", isComputed: definition.isComputed)
        }
    }

    private static func lines(ofFields name: String) throws -> [[String]] {
        let place = try required(FieldPlace(rawValue: name), name)
        return try place.fields.map {
            try property(
                $0.word, $0.type, $0.documentation, standard: $0.standard, isComputed: place == .retry)
        }
    }

    private static func property(
        _ word: String, _ type: KeyType, _ documentation: String, standard: String?, limits: String = "",
        isComputed: Bool = false
    ) throws -> [String] {
        let shape = "{ \"$ref\": \"#/definitions/\(type.rawValue)\" }\(limits)"
        let title = word.prefix(1).uppercased() + word.dropFirst().replacing("-", with: " ")
        return [
            "\(try quoted(word)): {",
            "  \"title\": \(try quoted(title)),",
            "  \"description\": \(try quoted(documentation)),",
        ] + (standard.map { ["  \"default\": \($0),"] } ?? []) + [
            isComputed
                ? "  \"anyOf\": [{ \"allOf\": [\(shape)] }, { \"$ref\": \"#/definitions/computed\" }]"
                : "  \"allOf\": [\(shape)]",
            "}",
        ]
    }

    private static func words(of type: String) throws -> [String] {
        switch KeyType(rawValue: type) {
        case .signal: KillSignal.allCases.map(\.rawValue)
        case .envPolicy: EnvironmentPolicy.allCases.map(\.rawValue)
        case .log: LogView.allCases.map(\.rawValue)
        case .streams: OutputStreams.allCases.map(\.rawValue)
        case .isolation: Isolation.allCases.map(\.rawValue)
        case .platforms: Platform.allCases.map(\.rawValue)
        case .outputType: OutputDeclaration.Kind.allCases.map(\.rawValue)
        case .parameterType: Parameter.Kind.words
        default: throw UnknownMark(name: type)
        }
    }

    private static func quoted(_ text: some StringProtocol) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(String(text)), as: UTF8.self)
    }

    private static func required<Value>(_ value: Value?, _ name: String) throws -> Value {
        guard let value else { throw UnknownMark(name: name) }
        return value
    }

    private struct UnknownMark: Error {
        let name: String
    }
}
