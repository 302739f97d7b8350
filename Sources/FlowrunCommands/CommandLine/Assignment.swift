/// A `NAME=VALUE` of the command line.
package struct Assignment: Sendable, Equatable {
    package let name: String
    package let value: String

    init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// `NAME=value`; nil where there is no `=`.
    init?(_ text: String) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        self.init(name: String(text[..<equals]), value: String(text[text.utf8.index(after: equals)...]))
    }
}
