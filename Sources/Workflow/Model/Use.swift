import Basics
package import Syntax

/// A group whose body is written elsewhere: `uses`. Of the place of its use, the body sees the environment and the
/// values that `with` gives to its parameters, and no other name.
package struct Use: Sendable {
    package enum Source: Sendable, Hashable {
        /// Another workflow file; the keys at its top apply to its own steps.
        case file
        /// One of the `templates` of the enclosing file; it also reads that file's parameters.
        case template
    }

    /// The value that `with` gives to one parameter.
    package struct Argument: Sendable {
        package enum Source: Sendable {
            case text(Template)
            case list([Template])
        }

        package let name: String
        package let value: Source
        /// The place of the name.
        package let range: SourceRange
    }

    package let source: Source
    /// The file that contains the body.
    package let file: SourceFile
    /// The group that has the body. Its own keys are evaluated where they are written, except for `outputs`.
    package let group: NodeIndex
    /// The place of the value of `uses`.
    package let range: SourceRange
    /// The folder in which the steps start: that of the body's file, relative to that of the first file; empty if
    /// they are the same.
    package let folder: String
    package var parameters: [Parameter] = []
    /// In file order, at most one for each parameter.
    package var arguments: [Argument] = []
    /// Only for a file.
    package var defaults: Settings?
    /// Only for a file: the steps that run when the group runs, in file order, empty for none; nil for all.
    package var defaultSteps: [StepReference]?
    /// The keys of the body that are evaluated inside: `env`, `dotenv`, `working-directory`, `env-policy`, `log`,
    /// `require`.
    package var settings: Settings?

    package init(_ source: Source, in file: SourceFile, of group: NodeIndex, range: SourceRange, folder: String) {
        self.source = source
        self.file = file
        self.group = group
        self.range = range
        self.folder = folder
    }
}

extension Use {
    /// Returns the parameters that a body sees: its own and, in a template, those of its file that have other names.
    package func adding<Item>(
        _ around: @autoclosure () -> [Item], to own: [Item], named name: (Item) -> String
    ) -> [Item] {
        guard source == .template else { return own }
        let hidden = Set(parameters.map(\.name))
        return own + around().filter { !hidden.contains(name($0)) }
    }
}

extension Workflow {
    /// The body that a group uses; nil for a group with a body of its own. O(log uses).
    package func use(of group: NodeIndex) -> Use? {
        guard nodes[group.row].isUse else { return nil }
        return uses[uses.partitioningIndex { $0.group >= group }]
    }

    /// The nearest used body that encloses a node; nil for nodes of the file itself. With `isInside`, a group that
    /// uses a body is inside of it. O(depth).
    package func use(around node: NodeIndex, isInside: Bool = false) -> Use? {
        guard !uses.isEmpty else { return nil }
        var node = isInside ? node : nodes[node.row].parent
        while node != .root {
            if let use = use(of: node) { return use }
            node = nodes[node.row].parent
        }
        return nil
    }

    /// The used file that a node belongs to: the same without templates.
    package func usedFile(around node: NodeIndex, isInside: Bool = false) -> Use? {
        var use = use(around: node, isInside: isInside)
        while let known = use, known.source == .template { use = self.use(around: known.group) }
        return use
    }

    /// The parameters that expressions of a body can read: its own and, in a template, those of its file. nil for
    /// `use` means the workflow itself.
    package func parameters(of use: Use?) -> [Parameter] {
        guard let use else { return parameters }
        return use.adding(parameters(of: usedFile(around: use.group)), to: use.parameters, named: \.name)
    }

    /// The `defaults` for a step or group; with `isInside`, those inside a group that uses a file.
    package func defaults(for node: NodeIndex, isInside: Bool = false) -> Settings? {
        guard !uses.isEmpty, let file = usedFile(around: node, isInside: isInside) else { return defaults }
        return file.defaults
    }
}

extension Use.Argument {
    package var templates: [Template] { value.templates }

    /// Returns the value for a parameter, with every expression evaluated in the scope of the group. Throws if it has
    /// none, or one that the parameter does not accept.
    package func value(
        for parameter: Parameter, in scope: some ExpressionScope
    ) throws(EvaluationError) -> Value {
        do throws(Parameter.ValueError) {
            return try value.value(for: parameter, in: scope)
        } catch {
            throw EvaluationError("`\(name)` of `with`: \(error.message)", at: range)
        }
    }
}

extension Use.Argument.Source {
    /// The text of the value, or the elements of a list.
    package var templates: [Template] {
        switch self {
        case .text(let template): [template]
        case .list(let elements): elements
        }
    }

    /// Returns the value for a parameter, with every expression evaluated. Throws if it has none, or one that the
    /// parameter does not accept.
    func value(for parameter: Parameter, in scope: some ExpressionScope) throws(Parameter.ValueError) -> Value {
        switch self {
        case .text(let template):
            if let text = template.literal { return try parameter.value(from: text) }
            return try parameter.value(of: try evaluated(template, in: scope))
        case .list(let elements):
            var items: [Value] = []
            for element in elements { items.append(.string(try evaluated(element, in: scope).text)) }
            return try parameter.value(of: .list(items))
        }
    }

    private func evaluated(
        _ template: Template, in scope: some ExpressionScope
    ) throws(Parameter.ValueError) -> Value {
        do throws(EvaluationError) {
            return try template.value(in: scope)
        } catch {
            throw Parameter.ValueError(message: error.message)
        }
    }
}

extension Parameter {
    /// Returns the value of a parameter for the value of an expression; a text is read like one from the caller.
    package func value(of given: Value) throws(ValueError) -> Value {
        switch (kind, given) {
        case (.int, .int), (.bool, .bool): return given
        case (.list, .list(let items)):
            return .list(try items.map { item throws(ValueError) in .string(try text(of: item)) })
        case (.list, _): throw ValueError(message: "expected a list, found \(given.described)")
        default:
            let text = try text(of: given)
            do {
                return try value(from: text)
            } catch {
                throw ValueError(message: error.message(found: text))
            }
        }
    }

    private func text(of given: Value) throws(ValueError) -> String {
        switch given {
        case .null, .list, .object:
            let expected =
                switch kind {
                case .string, .path, .list: "a text"
                case .int: "a whole number"
                case .bool: "true or false"
                case .choice(let choices): Phrase.alternatives(choices)
                }
            throw ValueError(message: "expected \(expected), found \(given.described)")
        case .bool, .int, .decimal, .string: return given.text
        }
    }
}

/// Paths with `/` that are relative to a folder. Pure; follows no links.
package enum RelativePath {
    /// Joins a path to the folder that it is relative to, without `.` and, as far as possible, without `..`. An
    /// absolute path is returned as it is.
    package static func joined(_ folder: String, _ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        var parts: [Substring] = []
        for part in folder.split(separator: "/") + path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// The folder of a path; empty if the path is only a name.
    static func folder(of path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }
}
