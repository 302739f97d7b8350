internal import ArgumentParser
internal import Glibc
internal import SourceDiagnostics

/// A word where a workflow file is expected: `run` is the command that need not be written, so a mistyped command looks
/// like a file.
enum CommandWord {
    /// Commands of later versions (DESIGN section 5).
    private static let toCome = ["runs", "replay"]

    /// What is wrong with a word that names no file; nil where it may be meant as one.
    static func mistake(_ word: String, in folder: String?) -> String? {
        guard !word.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ".") }), word != "-",
            access(folder.map { "\($0)/\(word)" } ?? word, F_OK) != 0
        else { return nil }
        if toCome.contains(word) { return "the command `\(word)` is not supported yet" }
        let known = FlowrunCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let command = Suggestion.nearest(to: word, among: known) else { return nil }
        return "there is no file `\(word)`; did you mean the command `\(command)`?"
    }
}
