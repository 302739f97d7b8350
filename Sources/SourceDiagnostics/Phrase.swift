/// The small grammar of messages.
package enum Phrase {
    /// User text in backticks, cut where it is long, its line ends shown as a sign.
    package static func quoted(_ text: String, limit: Int = 60) -> String {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "␤")
        return line.unicodeScalars.count <= limit ? "`\(line)`" : "`\(String(line.unicodeScalars.prefix(limit - 1)))…`"
    }

    /// "`a`, `b` or `c`".
    package static func alternatives(_ words: some Collection<String>) -> String {
        let quoted = words.map { "`\($0)`" }
        guard let last = quoted.last, quoted.count > 1 else { return quoted.first ?? "" }
        return quoted.dropLast().joined(separator: ", ") + " or " + last
    }

    /// "1 step", "3 steps".
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
