internal import Basics
internal import RunEvents

/// What one running step has written and nobody has seen yet, its streams in the order they came.
final class OutputBlock {
    private let spool: OutputSpool
    private var ending = LineEnding()

    init(directory: String) {
        spool = OutputSpool(directory: directory)
    }

    /// Whether it is short enough for one record with the line above it.
    var isSmall: Bool { spool.isSmall }

    /// Throws where it cannot be kept; what was kept before is not touched.
    func append(_ output: StepOutput) throws(SystemError) {
        if ending.isNeeded(before: output) {
            try withUnsafeBytes(of: UInt8(ascii: "\n")) { (byte) throws(SystemError) in try spool.append(byte) }
        }
        try spool.append(output.bytes)
        ending.note(output)
    }

    /// Appends all of a small block to `text`.
    func write(through sanitizer: inout OutputSanitizer, to text: inout LogText) {
        var offset = 0
        while let count = try? spool.read(from: offset, limit: .max, { sanitizer.append($0, to: &text.buffer) }),
            count > 0
        {
            offset += count
        }
        sanitizer.finish(to: &text.buffer)
    }

    /// The block in records of a bounded size, whatever its own. `failed` is told how many bytes could not be read
    /// back, and returns the line that says so.
    func source(
        through sanitizer: OutputSanitizer, failed: @escaping (Int, SystemError) -> String
    ) -> RecordSource {
        let text = PulledText(sanitizer)
        var offset = 0
        var isOver = false
        return { [spool] take in
            guard !isOver else { return false }
            text.buffer.removeAll()
            do throws(SystemError) {
                let count = try spool.read(from: offset, limit: sanitizer.pieceSize) {
                    text.sanitizer.append($0, to: &text.buffer)
                }
                offset += count
                isOver = offset == spool.count
            } catch {
                text.sanitizer.finish(to: &text.buffer)
                text.buffer.append(visible: failed(spool.count - offset, error))
                text.buffer.append(UInt8(ascii: "\n"))
                isOver = true
            }
            if isOver { text.sanitizer.finish(to: &text.buffer) }
            text.buffer.withUnsafeBytes(take)
            return true
        }
    }
}

/// What a source keeps from one piece to the next.
private final class PulledText {
    var buffer = ByteBuffer(capacity: 96 * 1024)
    var sanitizer: OutputSanitizer

    init(_ sanitizer: OutputSanitizer) { self.sanitizer = sanitizer }
}

/// Keeps one stream that stops inside a line from running into the next one.
struct LineEnding {
    private var unfinished: StepOutput.Stream?

    /// Whether the line before `output` is another stream's.
    func isNeeded(before output: StepOutput) -> Bool { unfinished != nil && unfinished != output.stream }

    mutating func note(_ output: StepOutput) { unfinished = output.isPartial ? output.stream : nil }
}
