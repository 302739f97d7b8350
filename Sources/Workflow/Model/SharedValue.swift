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

    package struct Command: Sendable {
        /// A script or the words of a program.
        package let body: WorkflowNode.Body
        /// The type that the text is read as.
        package let kind: OutputDeclaration.Kind
        /// nil for that of the surrounding steps.
        package let shell: Shell?
        /// nil if it is not set here.
        package let timeout: TimeLimit?
        /// The workflow's secrets that it sees, as environment variables.
        package let secrets: [SecretUse]
        /// True for a command of `require`, of which only the status counts.
        package let isPrecondition: Bool

        package init(
            body: WorkflowNode.Body, kind: OutputDeclaration.Kind = .string, shell: Shell? = nil,
            timeout: TimeLimit? = nil, secrets: [SecretUse] = [], isPrecondition: Bool = false
        ) {
            self.body = body
            self.kind = kind
            self.shell = shell
            self.timeout = timeout
            self.secrets = secrets
            self.isPrecondition = isPrecondition
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

    /// True for a command of `require`, whose name no expression and no script can write.
    package var isPrecondition: Bool { command?.isPrecondition == true }

    /// Its name in the log, without that of the group: `vars.NAME`, or `require[1]`.
    package var words: String { isPrecondition ? name : "vars.\(name)" }

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
}
