package import Syntax

/// One of `vars`: a value with a name, for everything in the group that declares it.
package struct SharedValue: Sendable {
    package enum Source: Sendable {
        /// As written in the file.
        case literal(Value)
        /// A text with expressions in it; a single expression keeps the type of its value.
        case template(Template)
        /// The standard output of a command, without the line end at its end.
        indirect case command(Command)
    }

    /// The use of a command.
    package enum Purpose: Sendable {
        /// Its output is one of `vars`.
        case value
        /// It is one of `require`, of which only the status counts.
        case precondition
        /// It makes the copy of the tree for `isolate: copy`; its output is the folder of the file in there.
        case tree
    }

    package struct Command: Sendable {
        /// A script or the words of a program; a milestone for that of a tree, which is not in the file.
        package let body: WorkflowNode.Body
        /// The type that the text is read as.
        package let kind: OutputDeclaration.Kind
        /// nil for that of the surrounding steps.
        package let shell: Shell?
        /// nil if it is not set here.
        package let timeout: TimeLimit?
        /// The workflow's secrets that it sees, as environment variables.
        package let secrets: [SecretUse]
        package let purpose: Purpose

        package init(
            body: WorkflowNode.Body, kind: OutputDeclaration.Kind = .string, shell: Shell? = nil,
            timeout: TimeLimit? = nil, secrets: [SecretUse] = [], purpose: Purpose = .value
        ) {
            self.body = body
            self.kind = kind
            self.shell = shell
            self.timeout = timeout
            self.secrets = secrets
            self.purpose = purpose
        }
    }

    package let name: String
    package let source: Source
    /// The place of the name.
    package let range: SourceRange
}

extension SharedValue {
    /// The expressions that it is made of, in order.
    package var expressions: [Expression] {
        switch source {
        case .literal: []
        case .template(let template): template.expressions
        case .command(let command):
            if case .arguments(let words) = command.body { words.flatMap(\.expressions) } else { [] }
        }
    }

    /// The use of its value; only `value` has a name that expressions and scripts can write.
    package var purpose: Purpose { command?.purpose ?? .value }

    /// Its name in the log, without that of the group: `vars.NAME`, `require[1]` or `isolate[copy]`.
    package var words: String { purpose == .value ? "vars.\(name)" : name }

    /// The command that makes it; nil for a value from the file.
    package var command: Command? { if case .command(let command) = source { command } else { nil } }
}

/// One of `vars`, by the group that declares it and its position there.
package struct SharedValueID: Hashable, Sendable {
    package let scope: NodeIndex
    package let position: Int

    package init(scope: NodeIndex, position: Int) {
        self.scope = scope
        self.position = position
    }

    /// The copy of the tree that an isolated group runs in, which is made like one of its `vars`.
    package static func tree(of group: NodeIndex) -> Self { Self(scope: group, position: -1) }

    package var isTree: Bool { position < 0 }
}

extension SharedValue {
    /// The copy of the tree for the `isolate` at a place.
    static func tree(at range: SourceRange) -> Self {
        let name = "\(WorkflowKey.isolate.spelling)[\(Isolation.copy.rawValue)]"
        return Self(name: name, source: .command(Command(body: .milestone, purpose: .tree)), range: range)
    }
}
