internal import ArgumentParser

/// The completion script for bash, which the parser makes without regard to `run` being the command that need not be
/// written: where no command fits, a file's name is meant.
enum CompletionScript {
    /// nil where the arguments ask for something else.
    static func requested(by arguments: [String]) -> String? {
        let words = arguments.flatMap { $0.split(separator: "=", maxSplits: 1) }
        guard words == ["--generate-completion-script", "bash"] else { return nil }
        return withFileNames(FlowrunCommand.completionScript(for: .bash))
    }

    private static func withFileNames(_ script: String) -> String {
        let registration = "complete -o filenames "
        let lines = script.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard line.hasPrefix(registration) else { return String(line) }
            return registration + "-o default " + line.dropFirst(registration.count)
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
