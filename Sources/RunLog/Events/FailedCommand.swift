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

    static func fields<Visitor: RecordVisitor & ~Copyable>(of command: inout FailedCommand?, _ visitor: inout Visitor) {
        var (text, file, line) = (command?.text, command?.file, command?.line)
        visitor.field(
            "command", &text,
            "the command at which the step's script failed, its first line; null where the shell cannot tell")
        visitor.field(
            "command_file", &file,
            "the file that the command stands in: the workflow file, or one that the script has read")
        visitor.field("command_line", &line, FieldRule("its line in that file, from 1", least: 1))
        guard Visitor.isReader, let text, let file, let line else { return }
        command = FailedCommand(text: text, file: file, line: line)
    }
}
