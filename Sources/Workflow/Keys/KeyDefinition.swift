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
    /// True if the key of a fan-out belongs to the whole of it, false if it belongs to each instance.
    package let isOfWhole: Bool
    /// The least and the greatest value of a whole number.
    package let range: ClosedRange<Int>
    private let type: KeyType
    private let topType: KeyType?
    private let stepType: KeyType?
    private let text: StaticString
    private let topText: StaticString?
    private let stepText: StaticString?

    /// `type` and `text` apply to all places that have none of their own.
    init(
        _ word: StaticString, in places: KeyPlaces, _ type: KeyType, range: ClosedRange<Int> = 1...1_000_000,
        handedDown: Bool = false, ofWhole: Bool = false, inDefinition: Bool = false, _ text: StaticString,
        topType: KeyType? = nil,
        atTop topText: StaticString? = nil, stepType: KeyType? = nil, ofStep stepText: StaticString? = nil
    ) {
        self.word = word
        self.places = places
        self.range = range
        isHandedDown = handedDown
        isOfWhole = ofWhole
        isInDefinition = inDefinition
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
    case version, text, stepIDs, flag, needs, condition, requirements, question, bodyName, arguments, params, vars
    case secrets, secretUses, run, environment, envPolicy, dotenv, defaults, shell, folder, scalar, streams, log
    case groupOutputs, stepOutputs, size, duration, grace, signal, retry, pools, poolRequests, mutexes, platforms
    case matrix, items, variable, label, wholeNumber, failFast, order, undoes, templates, steps, hook
    // Only of the words below a key.
    case attempts, factor, share, retryReasons, parameterType, scalars, path, outputType
    case outputSource, literal
}
