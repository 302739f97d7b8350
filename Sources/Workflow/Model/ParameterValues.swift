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
    /// Those of the steps with `params`; nil if there are none.
    package var ofSteps: StepParameterValues?

    /// The workflow's fields, then those of steps, with names such as `greet.name`.
    package var all: [Value.Field] { ofSteps.map { fields + $0.fields } ?? fields }

    /// The same with those of steps.
    package var allGiven: [(name: String, text: String)] { ofSteps.map { given + $0.given } ?? given }

    private init() { (fields, environment, missing, given) = ([], [], [], []) }

    /// Reads the texts that the caller gives, in the order of the command line: of two for one parameter the last
    /// counts, as in make and just. `variable` reads flowrun's own environment. `computing` returns the default of a
    /// parameter, made of the fields before it. `step` is the full id of the step that they belong to; nil for the
    /// workflow's.
    package init(
        _ given: [(name: String, text: String)], for parameters: [Parameter], of step: String? = nil,
        variable: (String) -> [UInt8]? = { _ in nil },
        computing: (Parameter, [Value.Field]) throws(EvaluationError) -> Value = { parameter, _ in
            parameter.absentValue
        }
    ) throws(ValuesError) {
        let option = step.map { "\($0) " } ?? "--param "
        var messages: [String] = []
        var texts: [String: String] = [:]
        for (name, text) in given {
            if parameters.contains(where: { $0.name == name }) {
                texts[name] = text
            } else {
                messages.append("\(option)\(Self.shown(name, text)): \(Self.unknown(name, among: parameters))")
            }
        }
        var fields: [Value.Field] = []
        var missing: [Parameter] = []
        var known: [(name: String, text: String)] = []
        for parameter in parameters {
            var text = texts[parameter.name]
            let isOnCommandLine = text != nil
            var source = text.map { "\(option)\(Self.shown(parameter.name, $0))" } ?? ""
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

/// The values of the parameters of steps, by step. A class, so that a run without any pays for no more than a word.
package final class StepParameterValues: Sendable {
    private let values: [NodeIndex: ParameterValues]
    /// The required ones that were not given, with the full id of their step.
    package let missing: [(step: NodeIndex, id: String, parameter: Parameter)]
    /// True if none is missing and none is wrong.
    package let areWhole: Bool
    /// The texts that the caller gave, with names such as `greet.name`.
    package let given: [(name: String, text: String)]
    /// All values, with names such as `greet.name`.
    package let fields: [Value.Field]

    /// Reads the texts that `given` has for a step. `mistakes` are sentences about wrong ones.
    package init(
        of workflow: Workflow, given: (NodeIndex) -> [(name: String, text: String)], mistakes: inout [String],
        variable: (String) -> [UInt8]? = { _ in nil }
    ) {
        var values: [NodeIndex: ParameterValues] = [:]
        var missing: [(step: NodeIndex, id: String, parameter: Parameter)] = []
        var texts: [(name: String, text: String)] = []
        var fields: [Value.Field] = []
        let told = mistakes.count
        for step in workflow.nodes.indices.map({ NodeIndex($0) }) {
            guard let parameters = workflow.settings(of: step)?.parameters, !parameters.isEmpty else { continue }
            let id = workflow.path(of: step)
            do {
                let own = try ParameterValues(given(step), for: parameters, of: id, variable: variable)
                values[step] = own
                missing += own.missing.map { (step, id, $0) }
                texts += own.given.map { ("\(id).\($0.name)", $0.text) }
                fields += own.fields.map { Value.Field(name: "\(id).\($0.name)", value: $0.value) }
            } catch {
                mistakes += error.messages
                missing += error.missing.map { (step, id, $0) }
            }
        }
        (self.values, self.missing, self.given, self.fields) = (values, missing, texts, fields)
        areWhole = missing.isEmpty && mistakes.count == told
    }

    /// nil for a step without `params`.
    package subscript(step: NodeIndex) -> ParameterValues? { values[step] }
}

extension Parameter {
    /// The message if a step runs that requires the parameter and was not given it.
    package func demand(by step: String) -> String {
        var message = "`\(step)` needs a value for `\(name)`; "
        message += "write `\(step) \(name)=VALUE`, or give --param \(step).\(name)=VALUE"
        if case .choice(let choices) = kind { message += " with \(Phrase.alternatives(choices))" }
        if let variable { message += ", or set the variable `\(variable)`" }
        return message + (description.map { " (\($0))" } ?? "")
    }

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
