/// What is wrong with the outputs that a step wrote: the step fails with it.
package struct OutputMistake: Error {
    /// A clause without its subject, as the message of a `Cause`, with the line where there is one.
    package let message: String
    /// From 1, in the file `$FLOWRUN_OUTPUT`; nil where no line is to blame.
    package let line: Int?

    init(_ message: String, line: Int? = nil) {
        self.message = line.map { "\(message) (line \($0) of $FLOWRUN_OUTPUT)" } ?? message
        self.line = line
    }
}
