/// A mapping below a key, with words of its own.
package enum FieldPlace: String, CaseIterable, Sendable {
    case retry, parameter, secret, sharedValue, requirement, output, dotenvFile

    /// One of the words of a mapping.
    package struct Field: Sendable {
        package let word: String
        package let type: KeyType
        /// A description in one or a few sentences.
        package let documentation: String

        fileprivate init(_ word: String, _ type: KeyType, _ documentation: String) {
            self.word = word
            self.type = type
            self.documentation = documentation
        }
    }

    /// The name in messages.
    var name: String {
        switch self {
        case .retry: "`retry`"
        case .parameter: "a parameter"
        case .secret: "a secret"
        case .sharedValue: "a var"
        case .requirement: "an entry of `require`"
        case .output: "an output"
        case .dotenvFile: "an entry of `dotenv`"
        }
    }

    var words: [String] { fields.map(\.word) }

    /// The words that may occur here.
    package var fields: [Field] {
        switch self {
        case .retry: Self.retryFields
        case .parameter: Self.parameterFields
        case .secret: Self.secretFields
        case .sharedValue: Self.sharedValueFields
        case .requirement: Self.requirementFields
        case .output: Self.outputFields
        case .dotenvFile: Self.dotenvFileFields
        }
    }

    private static let retryFields = [
        Field("attempts", .attempts, "The largest number of attempts, the first included."),
        Field("delay", .grace, "The time before the second attempt. Default 0s."),
        Field(
            "backoff", .factor, "What the delay is multiplied by from attempt to attempt. Default 1."),
        Field("max-delay", .duration, "The longest delay. Default: no limit."),
        Field("jitter", .share, "The part of each delay that is left to chance, from 0 to 1. Default 0."),
        Field(
            "when", .retryReasons,
            """
            After which ends it is tried again: exit codes as a shell shows them (137: killed, 127: no such \
            program), `timeout`, `signal`. Default: after any failure or timeout.
            """),
        Field("deadline", .duration, "The longest that all attempts may take together with the delays."),
    ]

    private static let parameterFields = [
        Field("type", .parameterType, "What kind of value it is. Default string."),
        Field("default", .literal, "The value where the caller gives none."),
        Field("required", .flag, "If true, the caller has to give it. Default false."),
        Field(
            "env", .variable,
            """
            A variable of flowrun's own environment that gives the value where --param does not. Empty it \
            counts as given, unless the parameter is required.
            """),
        Field(
            "pattern", .text, "A regular expression that the whole text has to match; of a list, each item."),
        Field("values", .scalars, "What a parameter of type enum may be."),
        Field("description", .text, "What it is for; shown by `flowrun list`."),
    ]

    private static let secretFields = [
        Field("env", .variable, "A variable of flowrun's own environment."),
        Field(
            "file", .path,
            """
            A file with the value, relative to the workflow file's folder. A line end at its end is left \
            out.
            """),
    ]

    private static let sharedValueFields = [
        Field(
            "run", .run,
            """
            A script, or a program and its arguments. Its standard output without the line end at its end is \
            the value.
            """),
        Field("value", .literal, "The value as the file says it."),
        Field("type", .outputType, "What kind of value it is. Default string."),
        Field("shell", .shell, "What reads the script. Default: what reads those of the steps beside `vars`."),
        Field("timeout", .duration, "How long the command may take."),
        Field("secrets", .secretUses, "Which of the workflow's secrets the command sees."),
    ]

    private static let requirementFields = [
        Field("if", .condition, "The condition, as an expression with or without braces."),
        Field("message", .scalar, "What the error says. May hold expressions."),
    ]

    private static let outputFields = [
        Field("type", .outputType, "What kind of value it is. Default string."),
        Field(
            "from", .outputSource,
            """
            `stdout`: what the step writes to standard output, without the line end at its end. Default: the \
            file $FLOWRUN_OUTPUT.
            """),
    ]

    private static let dotenvFileFields = [
        Field("path", .path, "The file, relative to the workflow file's folder."),
        Field("optional", .flag, "If true, the file may be absent. Default false."),
    ]
}
