/// What can go wrong with a text between the caller and `CommandLine.arguments`.
enum ArgumentText {
    /// Whether an argument is what the caller gave. Swift puts U+FFFD in the place of bytes that are not UTF-8, and a
    /// value that is not byte for byte the caller's is worse than none.
    static func isExact(_ argument: String) -> Bool {
        guard argument.unicodeScalars.contains("\u{FFFD}") else { return true }
        return (0..<Int(CommandLine.argc)).allSatisfy { index in
            CommandLine.unsafeArgv[index].map { String(validatingCString: $0) != nil } ?? true
        }
    }
}
