internal import Basics
internal import Glibc

/// The last line that each running step or command of `vars` has written, as far as the live region may need it.
struct LastLines {
    /// What of a line is kept.
    private static let length = 256

    private var lines: [StepOutput.Writer: [UInt8]] = [:]

    /// Blank lines do not count. Of a line that its program has written over, the last state does.
    mutating func note(_ output: StepOutput) {
        var end = output.bytes.count
        while end > 0, Self.isBlank(output.bytes[end - 1]) { end -= 1 }
        guard end > 0 else { return }
        let line = output.bytes[..<end]
        let start = line.lastIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.map { $0 + 1 } ?? 0
        lines[output.writer] = Array(line[start...].prefix(Self.length))
    }

    mutating func forget(_ writer: StepOutput.Writer) { lines[writer] = nil }

    /// The line without colours and with nothing that a terminal would obey; empty where there is none.
    func line(of writer: StepOutput.Writer) -> [UInt8] {
        guard let line = lines[writer] else { return [] }
        var sanitizer = OutputSanitizer(mark: "", keepsColors: false)
        var text = ByteBuffer()
        line.withUnsafeBytes { sanitizer.append($0, to: &text) }
        sanitizer.finish(to: &text)
        return text.bytes.filter { $0 != UInt8(ascii: "\n") }
            .map { $0 == UInt8(ascii: "\t") ? UInt8(ascii: " ") : $0 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }
}
