internal import CLinux

/// The words of flowrun's own command line, as they were given: not `CommandLine`'s, which need /proc and cost a small run
/// five times as much.
package enum CommandWords {
    /// Without the program's name; bytes that are not UTF-8 are repaired.
    package static var all: [String] {
        var all: [String] = []
        forEach { all.append(String(cString: $0)) }
        return all
    }

    /// Whether every word is UTF-8.
    static var areExact: Bool {
        var areExact = true
        forEach { areExact = areExact && String(validatingCString: $0) != nil }
        return areExact
    }

    private static func forEach(_ body: (UnsafeMutablePointer<CChar>) -> Void) {
        var count: Int32 = 0
        guard let words = clinux_arguments(&count), count > 1 else { return }
        for index in 1..<Int(count) { words[index].map(body) }
    }
}
