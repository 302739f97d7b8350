extension Duration {
    /// Reads a duration as workflow files write it, such as `90s` or `1h30m`; nil where it is none, or zero, or longer
    /// than a thousand days. For command lines.
    package init?(workflowText text: String) {
        guard case .duration(let duration) = DurationText.read(text), duration > .zero else { return nil }
        self = duration
    }

    /// As a workflow file writes it: `1h30m`, `90ms`; parts that are 0 are left out.
    package var asWritten: String {
        let (seconds, attoseconds) = components
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
            (attoseconds / 1_000_000_000_000_000, "ms"),
        ]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }
}
