internal import Glibc
internal import SourceDiagnostics
internal import YAMLSyntax

// `${{ … }}` is a word of version 1 that is not built yet, and never one of scripts.
extension WorkflowDecoder {
    static func mentionsExpression(_ file: SourceFile) -> Bool {
        file.bytes.withUnsafeBufferPointer { firstExpression(in: $0, from: 0) != nil }
    }

    /// Reports every expression of every scalar, each at its place.
    mutating func reportExpressions(below root: YAMLNode, rowCount: Int) {
        guard hasExpressions else { return }
        let refused = refusedRows.sorted { $0.lowerBound < $1.lowerBound }
        var next = 0
        var row = 0
        while row < rowCount {
            while next < refused.count, refused[next].upperBound <= row { next += 1 }
            if next < refused.count, refused[next].contains(row) {
                row = refused[next].upperBound
                continue
            }
            let node = root.node(atRow: row)
            row += 1
            if node.kind == .scalar, !node.isAlias { reportExpressions(in: node) }
        }
    }

    private mutating func reportExpressions(in node: YAMLNode) {
        let isScript = scriptRows.contains(node.contentRow)
        for range in Self.places(of: Self.expressions(in: node.bytes), in: node) {
            if isScript {
                report(
                    .expressionInScript, "`${{` in a script: flowrun never puts a value into code", at: range,
                    fix: .init(
                        "set an environment variable with `env` and read it as \"$NAME\", or write `run: [list]`"))
            } else {
                report(
                    .notSupportedYet, "`${{ }}` is not supported yet", at: range,
                    fix: .init("write the value, or an environment variable in a script"))
            }
        }
    }

    /// Where parts of a value stand. Block text is spelt otherwise than its value, but has the same expressions.
    private static func places(of parts: [Range<Int>], in node: YAMLNode) -> [SourceRange] {
        let inSource = expressions(in: node.source)
        guard inSource.count == parts.count else { return parts.map { _ in node.range } }
        return inSource.map { part in
            SourceRange(
                start: node.range.start + UInt32(part.lowerBound), end: node.range.start + UInt32(part.upperBound))
        }
    }

    private static func expressions(in bytes: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var offset = 0
        while let start = firstExpression(in: bytes, from: offset) {
            var end = start + 3
            while end + 1 < bytes.count, bytes[end] != UInt8(ascii: "}") || bytes[end + 1] != UInt8(ascii: "}") {
                end += 1
            }
            let isClosed = end + 1 < bytes.count
            parts.append(start..<(isClosed ? end + 2 : start + 3))
            offset = isClosed ? end + 2 : start + 3
        }
        return parts
    }

    private static func firstExpression(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var offset = start
        while offset + 2 < bytes.count, let found = memchr(base + offset, 0x24, bytes.count - offset - 2) {
            offset = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if bytes[offset + 1] == UInt8(ascii: "{"), bytes[offset + 2] == UInt8(ascii: "{") { return offset }
            offset += 1
        }
        return nil
    }
}
