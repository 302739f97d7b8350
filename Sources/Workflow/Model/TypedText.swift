/// Reads the texts that callers and steps write for typed values. Nothing is guessed: `yes` is not a bool, `1e3` not an
/// int.
package enum TypedText {
    /// A whole number in decimal digits; nil for anything else, including numbers beyond 64 bits.
    package static func int(_ text: String) -> Int? {
        text.utf8.first == UInt8(ascii: "+") ? nil : Int(text)
    }

    /// `true` or `false`.
    package static func bool(_ text: String) -> Bool? {
        switch text {
        case "true": true
        case "false": false
        default: nil
        }
    }
}
