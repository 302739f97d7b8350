package import SourceDiagnostics

/// One of `params`: a value that the caller gives with `--param`.
package struct Parameter: Sendable {
    package enum Kind: Sendable, Hashable {
        case string, int, bool, list, path
        case choice([String])
    }

    package let name: String
    package let kind: Kind
    /// nil where there is none; a parameter that is not required and has none is an empty text or list, 0 or false.
    package let defaultValue: Value?
    package let isRequired: Bool
    /// What the whole text of a `string` or `path`, or each item of a `list`, has to match; nil for anything.
    package let pattern: Pattern?
    package let description: String?
    /// Where the name stands.
    package let range: SourceRange

    package init(
        name: String, kind: Kind, defaultValue: Value? = nil, isRequired: Bool = false, pattern: Pattern? = nil,
        description: String? = nil, range: SourceRange
    ) {
        self.name = name
        self.kind = kind
        self.defaultValue = defaultValue
        self.isRequired = isRequired
        self.pattern = pattern
        self.description = description
        self.range = range
    }
}
