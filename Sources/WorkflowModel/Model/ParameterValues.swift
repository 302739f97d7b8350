internal import SourceDiagnostics

/// The values of all parameters of one run.
package struct ParameterValues: Sendable {
    /// What is wrong with the parameters that a caller gives: wrong usage (64).
    package struct ValuesError: Error {
        /// One sentence for each value that is wrong or missing.
        package let messages: [String]
    }

    /// Of a workflow without parameters.
    package static let none = ParameterValues()

    /// In the order of their declarations.
    package let fields: [Value.Field]
    /// As environment variables of every step: over what a step inherits and the top's `dotenv`, under every `env`.
    package let environment: [(name: String, value: String)]

    private init() { (fields, environment) = ([], []) }

    /// Reads what the caller gives, in the order of the command line: of two values for one parameter the last counts, as
    /// in make and just.
    package init(
        _ given: [(name: String, text: String)], for parameters: [Parameter]
    ) throws(ValuesError) {
        var messages: [String] = []
        var texts: [String: String] = [:]
        for (name, text) in given {
            if parameters.contains(where: { $0.name == name }) {
                texts[name] = text
            } else {
                messages.append("--param \(Self.shown(name, text)): \(Self.unknown(name, among: parameters))")
            }
        }
        var fields: [Value.Field] = []
        for parameter in parameters {
            var value = parameter.absentValue
            if let text = texts[parameter.name] {
                do {
                    value = try parameter.value(from: text)
                } catch {
                    messages.append("--param \(Self.shown(parameter.name, text)): \(error.message)")
                }
            } else if parameter.isRequired {
                messages.append(Self.missing(parameter))
            }
            fields.append(Value.Field(name: parameter.name, value: value))
        }
        guard messages.isEmpty else { throw ValuesError(messages: messages) }
        self.fields = fields
        environment = fields.map { ($0.name, $0.value.text) }
    }

    /// nil for a name that the workflow does not declare.
    package subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }

    /// The assignment on one line and not too long.
    private static func shown(_ name: String, _ text: String) -> String {
        String(Phrase.quoted("\(name)=\(text)").dropFirst().dropLast())
    }

    private static func unknown(_ name: String, among parameters: [Parameter]) -> String {
        let names = parameters.map(\.name)
        if names.isEmpty { return "the workflow has no parameters" }
        if let near = Suggestion.nearest(to: name, among: names) {
            return "the workflow has no parameter of this name; did you mean `\(near)`?"
        }
        return "the workflow has no parameter of this name, only \(Phrase.alternatives(names))"
    }

    private static func missing(_ parameter: Parameter) -> String {
        var message = "the parameter `\(parameter.name)` is required; give --param \(parameter.name)=VALUE"
        if case .choice(let choices) = parameter.kind { message += " with \(Phrase.alternatives(choices))" }
        return message + (parameter.description.map { " (\($0))" } ?? "")
    }
}
