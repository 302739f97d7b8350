internal import CLinux

/// The words of flowrun's own command line, as they were given: not `CommandLine`'s, which need /proc and cost a small run
/// five times as much.
package enum CommandWords {
    /// Without the program's name; bytes that are not UTF-8 are repaired.
    package static var all: [String] { given.dropFirst().map { String(cString: $0) } }

    /// Whether every word is UTF-8.
    static var areExact: Bool { given.allSatisfy { String(validatingCString: $0) != nil } }

    private static var given: [UnsafeMutablePointer<CChar>] {
        var count: Int32 = 0
        guard let words = clinux_arguments(&count) else { return [] }
        return (0..<Int(count)).compactMap { words[$0] }
    }
}
