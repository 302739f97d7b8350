/// The `pattern` of a parameter, ready to be held against texts.
package struct ParameterPattern {
    private let regex: Regex<AnyRegexOutput>

    /// nil where the text is no regular expression.
    package init?(_ text: String) {
        guard let regex = try? Regex(text) else { return nil }
        self.regex = regex
    }

    /// Whether the whole text matches.
    package func matches(_ text: String) -> Bool { (try? regex.wholeMatch(in: text)) != nil }
}
