package import Syntax

/// A call of another tool, which knows its file better than a reader of the text.
package struct ToolQuestion: Sendable {
    package let program: String
    /// The file that the question is about.
    package let file: String
    package let arguments: [String]
    /// The words of the call that say what is asked, for messages.
    package let spelling: String
    /// True if the tool runs what its file says, so that it may only see a copy of the folder.
    package let runsFile: Bool
    /// The text for the path of the copy in the answer; nil for that of the folder.
    package let folder: String?
    /// Files to write into the copy before, by their paths in it.
    package var files: [String: String] = [:]

    /// Asks; throws if the tool is not there, takes too long, says too much or refuses the file.
    package typealias Asking = (ToolQuestion) async throws(ForeignFileError) -> String

    static func make(_ file: String) -> ToolQuestion {
        // The goal has nothing to do. Its name begins with a dot, so that it is not the default one.
        ToolQuestion(
            program: "make", file: file,
            arguments: ["-pn", "--no-print-directory", "-f", file, "--eval=\(goal): ;", goal],
            spelling: "make -pn", runsFile: true, folder: "$(CURDIR)")
    }

    /// The goal that flowrun gives to make.
    static let goal = ".flowrun-asks"

    static func just(_ file: String) -> ToolQuestion {
        ToolQuestion(
            program: "just", file: file,
            arguments: ["--unstable", "--justfile", file, "--dump", "--dump-format", "json"],
            spelling: "just --dump --dump-format json", runsFile: false, folder: nil)
    }

    static func task(_ file: String) -> ToolQuestion {
        ToolQuestion(
            program: "task", file: file,
            arguments: ["--taskfile", file, "--list-all", "--json", "--no-status"],
            spelling: "task --list-all --json", runsFile: true, folder: nil)
    }
}

/// The reason why a file cannot be converted at all.
package struct ForeignFileError: Error {
    package let message: String
    /// The findings about its text.
    package let findings: [Diagnostic]

    package init(_ message: String, _ findings: [Diagnostic] = []) {
        self.message = message
        self.findings = findings
    }
}
