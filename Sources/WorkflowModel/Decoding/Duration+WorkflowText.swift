extension Duration {
    /// Reads a duration as workflow files write it, such as `90s` or `1h30m`; nil where it is none, or zero, or longer
    /// than a thousand days. For command lines.
    package init?(workflowText text: String) {
        guard case .duration(let duration) = DurationText.read(text), duration > .zero else { return nil }
        self = duration
    }
}
