/// The options of make(1), as it hands them in `MAKEFLAGS` to what a recipe calls: single letters without a hyphen in
/// the first word, other options behind it, and after `--` variables ("Options/Recursion" of its manual).
struct MakeFlags {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The words before the variables.
    private var words: [Substring] { Array(text.split(separator: " ").prefix { $0 != "--" }) }

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

    /// The same for a process that has no part in the jobs of this make: without the number of jobs and the jobserver,
    /// so that a make below is serial and does not look for descriptors that it does not have.
    var withoutJobs: String {
        var isOption = true
        let words = text.split(separator: " ", omittingEmptySubsequences: false).filter { word in
            if word == "--" { isOption = false }
            return !isOption || !Self.isAboutJobs(word)
        }
        return words.joined(separator: " ")
    }

    /// The number of jobs; nil if it is not limited, or not said.
    var jobs: Int? {
        words.lazy.compactMap { word -> Int? in
            let number = word.hasPrefix("--jobs=") ? word.dropFirst(7) : word.hasPrefix("-j") ? word.dropFirst(2) : ""
            return Int(number)
        }.last { $0 >= 1 }
    }

    private static func isAboutJobs(_ word: Substring) -> Bool {
        word.hasPrefix("-j") || ["--jobs", "--jobserver-auth", "--jobserver-fds"].contains(word.prefix { $0 != "=" })
    }
}
