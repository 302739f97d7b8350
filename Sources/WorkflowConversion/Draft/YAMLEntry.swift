/// One entry of a YAML mapping to be written, with the comment above it.
package struct YAMLEntry: Equatable, Sendable {
    /// Lines, without their `#`.
    package var comments: [String]
    package var key: String
    package var value: YAMLValue
    /// True if a blank line precedes it.
    var isSpaced: Bool

    package init(_ key: String, _ value: YAMLValue, comments: [String] = [], isSpaced: Bool = false) {
        self.key = key
        self.value = value
        self.comments = comments
        self.isSpaced = isSpaced
    }
}

/// A value of a YAML text to be written.
package indirect enum YAMLValue: Equatable, Sendable {
    /// Written as it is: a number, `true`, a duration.
    case word(String)
    /// A text on one line, in quotes if YAML would read something else.
    case text(String)
    /// A text of one or more lines for a shell, as a block if it is long.
    case script(String)
    case list([YAMLValue])
    /// A mapping on one line.
    case inline([YAMLEntry])
    /// A mapping with a line for each entry.
    case mapping([YAMLEntry])

    package static func texts(_ texts: [String]) -> YAMLValue { .list(texts.map(YAMLValue.text)) }
}
