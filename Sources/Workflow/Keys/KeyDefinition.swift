/// The definition of one key of the file format.
package struct KeyDefinition: Sendable {
    /// The word in a file.
    package let word: StaticString
    /// Empty for a word that is not supported yet.
    package let places: KeyPlaces
    /// True if a group hands its value down to the members that have none of their own.
    package let isHandedDown: Bool
    /// True if a step with another value runs again in a resume. The digest that `CommandBuilder.definition` makes has
    /// to include the value; a test compares the two. Of `if`, only its references and its effect after a failed need
    /// count: each run evaluates it again.
    package let isInDefinition: Bool
    /// True if its value may hold expressions over parameters and `vars`, which have a value before the first step.
    package let isComputed: Bool
    /// True if the key of a fan-out belongs to the whole of it, false if it belongs to each instance.
    package let isOfWhole: Bool
    /// The least and the greatest value of a whole number.
    package let range: ClosedRange<Int>
    /// The numbers that count something and have no closer limit.
    static let count = 1...1_000_000
    /// The value that counts if the file does not have the key, as JSON; nil if there is none, or more than one.
    package let standard: StaticString?
    private let type: KeyType
    private let topType: KeyType?
    private let stepType: KeyType?
    private let text: StaticString
    private let topText: StaticString?
    private let stepText: StaticString?

    /// `type` and `text` apply to all places that have none of their own.
    init(
        _ word: StaticString, in places: KeyPlaces, _ type: KeyType, range: ClosedRange<Int> = Self.count,
        standard: StaticString? = nil, handedDown: Bool = false, ofWhole: Bool = false, inDefinition: Bool = false,
        computed: Bool = false,
        _ text: StaticString,
        topType: KeyType? = nil,
        atTop topText: StaticString? = nil, stepType: KeyType? = nil, ofStep stepText: StaticString? = nil
    ) {
        self.word = word
        self.places = places
        self.range = range
        self.standard = standard
        isHandedDown = handedDown
        isOfWhole = ofWhole
        isInDefinition = inDefinition
        isComputed = computed
        (self.type, self.topType, self.stepType) = (type, topType, stepType)
        (self.text, self.topText, self.stepText) = (text, topText, stepText)
    }

    /// A word of version 1 that this program knows, but refuses with an error in every place.
    static func notSupportedYet(_ word: StaticString) -> Self { Self(word, in: [], .text, "") }

    /// The type of the key's value at a place.
    package func type(in place: KeyPlace) -> KeyType {
        switch place {
        case .top: topType ?? type
        case .step: stepType ?? type
        case .defaults, .group, .use, .template: type
        }
    }

    /// The effect of the key at a place, in one or a few sentences.
    package func documentation(in place: KeyPlace) -> String {
        switch place {
        case .defaults: "The `\(word)` of every step that has none. \(stepText ?? text)"
        case .top: "\(topText ?? text)"
        case .step: "\(stepText ?? text)"
        case .group, .use, .template: "\(text)"
        }
    }
}

/// A mapping whose keys the format knows.
package enum KeyPlace: UInt8, CaseIterable, Sendable {
    case top, defaults, group, step, use, template

    /// The name in messages.
    var name: String {
        switch self {
        case .top: "the workflow"
        case .defaults: "`defaults`"
        case .group: "a group"
        case .step: "a step"
        case .use: "a group with `uses`"
        case .template: "a template"
        }
    }
}

/// A set of places. An option set, whose literals cost nothing: each use of a row of the table makes it.
package struct KeyPlaces: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ place: KeyPlace) { rawValue = 1 << place.rawValue }

    static var top: Self { Self(.top) }
    static var defaults: Self { Self(.defaults) }
    static var step: Self { Self(.step) }
    static var group: Self { Self(.group) }
    static var use: Self { Self(.use) }
    static var template: Self { Self(.template) }
    /// Everything that has an id under `steps`.
    static var member: Self { [.step, .group, .use] }
}

/// The kinds of value. Each is read by one function of the decoder and has a definition of this name in the JSON
/// schema.
package enum KeyType: String, CaseIterable, Sendable {
    // Of keys.
    case version, text, aliases, stepIDs, flag, needs, condition, requirements, question, bodyName, arguments, params
    case vars, secrets, secretUses, run, environment, envPolicy, dotenv, defaults, shell, folder, scalar, streams, log
    case groupOutputs, stepOutputs, size, duration, grace, signal, retry, pools, poolRequests, mutexes, platforms
    case matrix, items, variable, label, wholeNumber, failFast, order, isolation, jobserver, undoes, templates, steps
    case hook
    // Only of the words below a key.
    case attempts, factor, share, retryReasons, parameterType, scalars, path, outputType
    case outputSource, literal
}

/// A mapping below a key, with words of its own.
package enum FieldPlace: String, CaseIterable, Sendable {
    case retry, parameter, secret, sharedValue, requirement, output, dotenvFile

    /// One of the words of a mapping.
    package struct Field: Sendable {
        package let word: String
        package let type: KeyType
        /// A description in one or a few sentences.
        package let documentation: String
        /// The value without the word, as JSON; nil if there is none.
        package let standard: String?

        fileprivate init(_ word: String, _ type: KeyType, standard: String? = nil, _ documentation: String) {
            self.word = word
            self.type = type
            self.documentation = documentation
            self.standard = standard
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
        Field("delay", .grace, standard: "\"0s\"", "The time before the second attempt. Default 0s."),
        Field(
            "backoff", .factor, standard: "1", "What the delay is multiplied by from attempt to attempt. Default 1."),
        Field("max-delay", .duration, "The longest delay. Default: no limit."),
        Field(
            "jitter", .share, standard: "0", "The part of each delay that is left to chance, from 0 to 1. Default 0."),
        Field(
            "when", .retryReasons,
            """
            After which ends it is tried again: exit codes as a shell shows them (137: killed, 127: no such \
            program), `timeout`, `signal`. Default: after any failure or timeout.
            """),
        Field("deadline", .duration, "The longest that all attempts may take together with the delays."),
    ]

    private static let parameterFields = [
        Field("type", .parameterType, standard: "\"string\"", "What kind of value it is. Default string."),
        Field(
            "default", .literal,
            """
            The value where the caller gives none. Expressions in it read `vars` without a command, and parameters \
            that are declared before.
            """),
        Field("required", .flag, standard: "false", "If true, the caller has to give it. Default false."),
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
        Field("type", .outputType, standard: "\"string\"", "What kind of value it is. Default string."),
        Field("shell", .shell, "What reads the script. Default: what reads those of the steps beside `vars`."),
        Field("timeout", .duration, "How long the command may take."),
        Field("secrets", .secretUses, "Which of the workflow's secrets the command sees."),
    ]

    private static let requirementFields = [
        Field("if", .condition, "The condition, as an expression with or without braces."),
        Field(
            "run", .run,
            """
            In place of `if`: a script, or a program and its arguments, that has to succeed. It runs once, like those \
            of `vars`.
            """),
        Field("message", .scalar, "What the error says. May hold expressions. Default for `run`: the command."),
    ]

    private static let outputFields = [
        Field("type", .outputType, standard: "\"string\"", "What kind of value it is. Default string."),
        Field(
            "from", .outputSource,
            """
            `stdout`: what the step writes to standard output, without the line end at its end. Default: the \
            file $FLOWRUN_OUTPUT.
            """),
    ]

    private static let dotenvFileFields = [
        Field("path", .path, "The file, relative to the workflow file's folder."),
        Field("optional", .flag, standard: "false", "If true, the file may be absent. Default false."),
    ]
}
