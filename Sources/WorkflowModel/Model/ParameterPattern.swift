/// A `pattern` of a parameter: a regular expression that has to match the whole text.
///
/// The language is that of Swift's `Regex`, which is Perl's and PCRE's but for rare corners; `.` and classes mean Unicode
/// scalars. Matching backtracks: a pattern such as `(a+)+b` can take very long on a long text that does not match.
package struct ParameterPattern {
    private let regex: Regex<AnyRegexOutput>

    /// nil where `text` is no regular expression; `mistake(in:)` says why.
    package init?(_ text: String) {
        guard let regex = try? Regex(text) else { return nil }
        self.regex = regex.matchingSemantics(.unicodeScalar)
    }

    /// What is wrong with a pattern; nil where nothing is.
    package static func mistake(in text: String) -> String? {
        do {
            _ = try Regex(text)
            return nil
        } catch {
            return "\(error)"
        }
    }

    package func matches(_ text: String) -> Bool {
        (try? regex.wholeMatch(in: text)) != nil
    }
}
