import Testing

/// Requires these texts to stand in what a file comes to, in this order, with the indentation they are given in.
func expect(
    _ source: String, _ name: String, _ wanted: String..., sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let output = try converted(source, name)
    #expect(wrongLines(output) == [], "\(output)", sourceLocation: sourceLocation)
    var rest = output[...]
    for text in wanted {
        guard let range = rest.firstRange(of: text) else {
            Issue.record("not found:\n\(text)\nin:\n\(output)", sourceLocation: sourceLocation)
            return
        }
        rest = rest[range.upperBound...]
    }
}
