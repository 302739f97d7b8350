internal import Syntax

/// The values of all parameters of one run.
package struct ParameterValues: Sendable {
    /// The mistakes in the parameters that a caller gives: wrong usage (64).
    package struct ValuesError: Error {
        /// One sentence for each wrong value.
        package let messages: [String]
        /// The required parameters that were not given, and those whose defaults are made of them.
        package let missing: [Parameter]
    }

    /// The values of a workflow without parameters.
    package static let none = ParameterValues()

    /// In the order of their declarations, without those that are missing.
    package let fields: [Value.Field]
    /// As environment variables of every step: they override what a step inherits and the top's `dotenv`; every `env`
    /// overrides them.
    package let environment: [(name: String, value: String)]
    /// The required parameters that were not given, and those whose defaults are made of them.
    package let missing: [Parameter]
    /// The texts that the caller gave, on the command line or in a variable.
    package let given: [(name: String, text: String)]

    private init() { (fields, environment, missing, given) = ([], [], [], []) }

    /// Reads the texts that the caller gives, in the order of the command line: of two for one parameter the last
    /// counts, as in make and just. `variable` reads flowrun's own environment. `computing` returns the default of a
    /// parameter, made of the fields before it.
    package init(
        _ given: [(name: String, text: String)], for parameters: [Parameter],
        variable: (String) -> [UInt8]? = { _ in nil },
        computing: (Parameter, [Value.Field]) throws(EvaluationError) -> Value = { parameter, _ in
            parameter.absentValue
        }
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
        var missing: [Parameter] = []
        var known: [(name: String, text: String)] = []
        for parameter in parameters {
            var text = texts[parameter.name]
            let isOnCommandLine = text != nil
            var source = text.map { "--param \(Self.shown(parameter.name, $0))" } ?? ""
            if text == nil, let name = parameter.variable, let bytes = variable(name) {
                guard let found = String(validating: bytes, as: UTF8.self) else {
                    messages.append("the variable `\(name)`, for the parameter `\(parameter.name)`: it is not UTF-8")
                    continue
                }
                // For a required parameter, an empty variable is no value.
                if !found.isEmpty || !parameter.isRequired {
                    text = found
                    source = "the variable `\(name)`, for the parameter `\(parameter.name)`"
                }
            }
            guard let text else {
                if parameter.isRequired {
                    missing.append(parameter)
                } else if parameter.computedDefault == nil {
                    fields.append(Value.Field(name: parameter.name, value: parameter.absentValue))
                } else {
                    do throws(EvaluationError) {
                        fields.append(Value.Field(name: parameter.name, value: try computing(parameter, fields)))
                    } catch {
                        // It may be made of one that is missing, which its readers demand.
                        if missing.isEmpty { messages.append(error.message) } else { missing.append(parameter) }
                    }
                }
                continue
            }
            do {
                fields.append(Value.Field(name: parameter.name, value: try parameter.value(from: text)))
                known.append((parameter.name, text))
            } catch {
                messages.append("\(source): \(isOnCommandLine ? error.message : error.message(found: text))")
            }
        }
        guard messages.isEmpty else { throw ValuesError(messages: messages, missing: missing) }
        self.fields = fields
        self.missing = missing
        self.given = known
        environment = fields.map { ($0.name, $0.value.text) }
    }

    /// nil for a name that the workflow does not declare, and for one that is `missing`.
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
}

extension Parameter {
    /// The message when something reads the parameter and it was not given; it says how to give it.
    package var demand: String {
        var message = "the parameter `\(name)` is required; give --param \(name)=VALUE"
        if case .choice(let choices) = kind { message += " with \(Phrase.alternatives(choices))" }
        if let variable { message += ", or set the variable `\(variable)`" }
        return message + (description.map { " (\($0))" } ?? "")
    }
}

/// Reads the texts that callers and steps write for typed values. Nothing is guessed: `yes` is not a bool, `1e3` not an
/// int.
package enum TypedText {
    /// A whole number in decimal digits; nil for anything else, including numbers beyond 64 bits.
    package static func int(_ text: String) -> Int? {
        text.utf8.first == UInt8(ascii: "+") ? nil : Int(text)
    }

    /// `true` or `false`.
    package static func bool(_ text: String) -> Bool? {
        switch text {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
