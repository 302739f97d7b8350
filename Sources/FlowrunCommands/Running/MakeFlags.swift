/// The options of make(1), as it hands them in `MAKEFLAGS` to what a recipe calls: single letters without a hyphen in
/// the first word, other options behind it, and after `--` variables ("Options/Recursion" of its manual).
struct MakeFlags {
    private let words: [Substring]

    init(_ text: String) { words = Array(text.split(separator: " ").prefix { $0 != "--" }) }

    /// The options by which make runs no recipe: it shows, asks or touches.
    private static let idleOptions: [(letter: Character, names: [Substring])] = [
        ("n", ["--dry-run", "--just-print", "--recon"]), ("q", ["--question"]), ("t", ["--touch"]),
    ]
    /// Letters whose argument may follow in the same word.
    private static let lettersWithArgument = "CEIOWfjlo"

    /// The option by which make runs no recipe, such as `-n`; nil if it really makes.
    var idleOption: String? {
        Self.idleOptions.first { option in
            words.enumerated().contains { index, word in
                if word.hasPrefix("--") { return option.names.contains(word) }
                return (word.hasPrefix("-") || index == 0 && !word.contains("="))
                    && word.prefix { !Self.lettersWithArgument.contains($0) }.contains(option.letter)
            }
        }.map { "-\($0.letter)" }
    }
}
