import Syntax
import Workflow

// `with`: whether what a group gives is what a parameter takes.
extension DataFlowCheck {
    mutating func check(_ argument: Use.Argument, for parameter: Parameter) {
        guard case .text(let template) = argument.value, let expression = template.expression else {
            for template in argument.templates { check(template, what: "an item of a list") }
            return
        }
        let type = present(expression.root)
        let (kind, note) = (parameter.kind, Diagnostic.Note("the parameter is declared here", at: parameter.range))
        if let text = texts(of: expression, type)?.first(where: { (try? parameter.value(from: $0)) == nil }) {
            return report(
                .valueType,
                "the parameter `\(parameter.name)` is \(kind.described), and one of the values is "
                    + Phrase.quoted(text),
                at: expression.root.range, notes: [note])
        }
        guard !type.isAny, !kind.accepts(type, isVariable: isVariable(expression)) else { return }
        report(
            .valueType, "the parameter `\(parameter.name)` is \(kind.described), found \(type.described)",
            at: expression.root.range, notes: [note],
            fix: type.isText
                ? .init("declare it as \(kind.word) where it comes from, or write `fromJSON(\(expression.text))`")
                : nil)
    }

    /// All values that an expression can have, where it is an axis of a matrix or an `enum`; nil for any other.
    private mutating func texts(of expression: Expression, _ type: ValueType) -> [String]? {
        if case .word(let words) = type.kind { return words }
        guard let name = expression.name, let fanOut = fanOut(withVariable: name), fanOut.items == nil
        else { return nil }
        return fanOut.instances.compactMap { instance in instance.variables.first { $0.name == name }?.value }
    }

    /// Whether it is the variable of a fan-out, whose values are all texts, also those that are written as numbers.
    private mutating func isVariable(_ expression: Expression) -> Bool {
        expression.name.map { hasVariable($0) } ?? false
    }
}

extension Expression {
    /// The name that is all of it; nil for anything more.
    fileprivate var name: String? {
        if case .reference(let name, let path) = root.kind, path.isEmpty { name.text } else { nil }
    }
}

extension Parameter.Kind {
    /// Whether a value of some type can be one of the parameter. A text may be one of the words of an `enum`, and that
    /// of a fan-out a number or a bool.
    fileprivate func accepts(_ type: ValueType, isVariable: Bool) -> Bool {
        switch (self, type.kind) {
        case (_, .any), (.list, .list), (.bool, .bool), (.int, .int), (.int, .number): true
        case (.string, _), (.path, _), (.choice, _): type.isScalar
        case (.int, _), (.bool, _): isVariable && type.isText
        case (.list, _): false
        }
    }

    /// What follows "the parameter is".
    fileprivate var described: String {
        switch self {
        case .string, .path: "a text"
        case .choice(let choices): Phrase.alternatives(choices)
        case .int: "a whole number"
        case .bool: "true or false"
        case .list: "a list"
        }
    }

    /// What `type` says.
    fileprivate var word: String {
        switch self {
        case .string: "`string`"
        case .path: "`path`"
        case .choice: "`enum`"
        case .int: "`int`"
        case .bool: "`bool`"
        case .list: "`list`"
        }
    }
}
