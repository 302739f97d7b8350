/// A `NAME=VALUE` of the command line.
struct Assignment: Sendable {
    let name: String
    let value: String

    /// nil if there is no `=`.
    init?(_ text: String) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        name = String(text[..<equals])
        value = String(text[text.utf8.index(after: equals)...])
    }
}
