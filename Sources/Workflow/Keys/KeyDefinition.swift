/// All that holds for one key of the file format.
package struct KeyDefinition: Sendable {
    /// The word as a file has it.
    package let word: StaticString
    package let places: KeyPlaces
    /// True if a group hands its word down to the members that have none of their own.
    package let isHandedDown: Bool
    /// True if a resume runs a step again that says something else. Of `if` only what it reads and whether it decides
    /// after a failed need count: its value is asked for in each run.
    package let isInDefinition: Bool
    /// True for a key of a fan-out that belongs to the whole of it, false for one that belongs to each copy.
    package let isOfAllCopies: Bool
    private let type: KeyType
    private let topType: KeyType?
    private let stepType: KeyType?
    private let text: StaticString
    private let topText: StaticString?
    private let stepText: StaticString?

    /// `type` and `text` are those of all places that have none of their own.
    init(
        _ word: StaticString, in places: KeyPlaces, _ type: KeyType, handedDown: Bool = false,
        ofAllCopies: Bool = false, inDefinition: Bool = false, _ text: StaticString, topType: KeyType? = nil,
        atTop topText: StaticString? = nil, stepType: KeyType? = nil, ofStep stepText: StaticString? = nil
    ) {
        self.word = word
        self.places = places
        isHandedDown = handedDown
        isOfAllCopies = ofAllCopies
        isInDefinition = inDefinition
        (self.type, self.topType, self.stepType) = (type, topType, stepType)
        (self.text, self.topText, self.stepText) = (text, topText, stepText)
    }

    /// A word of version 1 that this program knows, but answers with an error, wherever it stands.
    static func notSupportedYet(_ word: StaticString) -> Self { Self(word, in: [], .text, "") }

    package var isSupported: Bool { !places.isEmpty }

    /// What the value of the key is at a place.
    package func type(in place: KeyPlace) -> KeyType {
        switch place {
        case .top: topType ?? type
        case .step: stepType ?? type
        case .defaults, .group, .use, .template: type
        }
    }

    /// What the key does at a place, in one or a few sentences.
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

    /// As messages call it.
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

    /// The keys that may stand here, in the order of the table.
    package var keys: KeySet { Self.keys[Int(rawValue)] }

    private static let keys = allCases.map { place in
        KeySet(WorkflowKey.allCases.lazy.filter { $0.definition.places.contains(KeyPlaces(place)) })
    }
}

/// Some of the places.
package struct KeyPlaces: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    init(_ place: KeyPlace) { rawValue = 1 << place.rawValue }

    static let top = Self(.top)
    static let defaults = Self(.defaults)
    static let step = Self(.step)
    static let group = Self(.group)
    static let use = Self(.use)
    static let template = Self(.template)
    /// Whatever has an id under `steps`.
    static let member: Self = [.step, .group, .use]
}

/// The kinds of value. Each is read by one function of the decoder, and has a definition of its name in the JSON
/// schema.
package enum KeyType: String, CaseIterable, Sendable {
    // Of keys.
    case version, text, stepIDs, flag, needs, condition, requirements, question, bodyName, arguments, params, vars
    case secrets, secretUses, run, environment, envPolicy, dotenv, defaults, shell, folder, scalar, streams, log
    case groupOutputs, stepOutputs, size, duration, grace, signal, retry, pools, poolRequests, mutexes, platforms
    case matrix, items, variable, label, instanceLimit, count, failFast, order, undoes, templates, steps, hook
    // Only of the words below a key.
    case attempts, factor, share, retryReasons, parameterType, scalars, path, outputType
    case outputSource, literal
}
