internal import Syntax

// `interactive`: a step that has the terminal in place of pipes.
extension WorkflowDecoder {
    /// What cannot be done to a step whose input and output are the terminal.
    mutating func checkInteractive(_ reader: borrowing MappingReader, of step: NodeIndex) {
        guard let settings = nodes[step.row].settings, settings.isInteractive else { return }
        for (key, reason) in Self.pipeKeys {
            guard let entry = reader.take(key) else { continue }
            report(
                .conflictingKeys, "an interactive step \(reason), so `\(key.spelling)` has no effect", at: entry.key,
                fix: .init("remove `\(key.spelling)`, or `interactive`"))
        }
        for output in settings.outputs {
            guard case .standardOutput = output.source else { continue }
            report(
                .conflictingKeys,
                "an interactive step writes to the terminal, so the output `\(output.name)` cannot be `from: stdout`",
                at: output.range, fix: .init("write it to `$FLOWRUN_OUTPUT`, or remove `interactive`"))
        }
    }

    private static let pipeKeys: [(WorkflowKey, String)] = [
        (.stdin, "reads the terminal"), (.streams, "writes to the terminal"), (.log, "writes to the terminal"),
        (.detach, "ends before others have the terminal"),
    ]
}
