/// The command inside a script at which the script failed, as far as its shell can tell.
package struct FailedCommand: Sendable, Hashable {
    /// Its first line, as the shell prints it, and no more than a terminal can show.
    package let text: String
    /// The file that it stands in: the workflow's, or one that the script has read with `source`.
    package let file: String
    /// From 1.
    package let line: Int

    package init(text: String, file: String, line: Int) {
        self.text = text
        self.file = file
        self.line = line
    }

    /// The command as a part of a sentence behind how it ended; nil where that says it all, as in "exit 3 in `exit 3`".
    package var words: String? {
        text == "exit" || text.hasPrefix("exit ") ? nil : "in `\(text)`"
    }
}
