/// The options of make(1), as it hands them in `MAKEFLAGS` to what a recipe calls: single letters without a hyphen in
/// the first word, other options behind it, and after `--` variables ("Options/Recursion" of its manual).
package struct MakeFlags {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// The words before the variables.
    private var words: [Substring] { parts.options.filter { !$0.isEmpty } }

    /// The options by which make runs no recipe: it shows, asks or touches.
    private static let idleOptions: [(letter: Character, names: [Substring])] = [
        ("n", ["--dry-run", "--just-print", "--recon"]), ("q", ["--question"]), ("t", ["--touch"]),
    ]
    /// Letters whose argument may follow in the same word.
    private static let lettersWithArgument = "CEIOWfjlo"

    /// The option by which make runs no recipe, such as `-n`; nil if it really makes.
    package var idleOption: String? {
        Self.idleOptions.first { has($0.letter, $0.names) }.map { "-\($0.letter)" }
    }

    /// True if make goes on after a failure.
    package var keepsGoing: Bool { has("k", ["--keep-going"]) }

    /// True if make says nothing of its own.
    package var isSilent: Bool { has("s", ["--silent", "--quiet"]) }

    private func has(_ letter: Character, _ names: [Substring]) -> Bool {
        words.enumerated().contains { index, word in
            if word.hasPrefix("--") { return names.contains(word) }
            return (word.hasPrefix("-") || index == 0 && !word.contains("="))
                && word.prefix { !Self.lettersWithArgument.contains($0) }.contains(letter)
        }
    }

    /// The same for a process that has no part in the jobs of this make: without the number of jobs and the jobserver,
    /// so that a make below is serial and does not look for descriptors that it does not have.
    package var withoutJobs: String {
        let (options, variables) = parts
        return (options.filter { !Self.isAboutJobs($0) } + variables).joined(separator: " ")
    }

    /// The same for a process that takes part in `jobs` jobs, by a jobserver that is named as `--jobserver-auth` takes
    /// it. A first word of letters stays the first.
    func withJobs(_ jobs: Int, auth: String) -> String {
        let (options, variables) = parts
        let words: [Substring] = ["-j\(jobs)", "--jobserver-auth=\(auth)"]
        return ((options.isEmpty ? [""] : options) + words + variables).joined(separator: " ")
    }

    /// The words, even empty ones, before and from the `--` on.
    private var parts: (options: ArraySlice<Substring>, variables: ArraySlice<Substring>) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let end = words.firstIndex(of: "--") ?? words.endIndex
        return (words[..<end], words[end...])
    }

    /// The number of jobs; nil if it is not limited, or not said.
    package var jobs: Int? {
        words.lazy.compactMap { word -> Int? in
            let number = word.hasPrefix("--jobs=") ? word.dropFirst(7) : word.hasPrefix("-j") ? word.dropFirst(2) : ""
            return Int(number)
        }.last { $0 >= 1 }
    }

    private static func isAboutJobs(_ word: Substring) -> Bool {
        word.hasPrefix("-j") || ["--jobs", "--jobserver-auth", "--jobserver-fds"].contains(word.prefix { $0 != "=" })
    }
}
