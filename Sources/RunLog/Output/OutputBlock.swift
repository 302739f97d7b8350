internal import Basics

/// What one running step has written and nobody has seen yet, its streams in the order they came.
final class OutputBlock {
    /// What a record of a long block should have, with so much left over at most: a file system takes few long ones in
    /// much less time than many short ones.
    private static let (recordSize, slack) = (124 << 10, 8 << 10)

    private let pieces: OutputPieces
    private var ending = LineEnding()

    init(directory: String) {
        pieces = OutputPieces(directory: directory)
    }

    /// Whether it is short enough for one record with the line above it.
    var isSmall: Bool { pieces.areSmall }

    /// `place` is where the bytes can be read again, nil where they cannot. Throws where they cannot be kept; what was
    /// kept before is not touched.
    func append(_ output: StepOutput, at place: OutputPlace?) throws(SystemError) {
        if ending.isNeeded(before: output) {
            try withUnsafeBytes(of: UInt8(ascii: "\n")) { (byte) throws(SystemError) in try pieces.append(byte) }
        }
        try pieces.append(output.bytes, at: place)
        ending.note(output)
    }

    /// Appends all of a small block.
    func write(through sanitizer: inout OutputSanitizer, to text: inout ByteBuffer) {
        var offset = 0
        while let count = try? pieces.read(from: offset, limit: .max, { sanitizer.append($0, to: &text) }),
            count > 0
        {
            offset += count
        }
        sanitizer.finish(to: &text)
    }

    /// The block in records of a bounded size, whatever its own. `failed` is told how many bytes could not be read
    /// back, and returns the line that says so.
    func source(
        through sanitizer: OutputSanitizer, failed: @escaping (Int, SystemError) -> String
    ) -> RecordSource {
        let text = PulledText(sanitizer)
        var offset = 0
        var isOver = false
        return { [pieces] take in
            guard !isOver else { return false }
            text.buffer.removeAll()
            do throws(SystemError) {
                while !isOver, text.buffer.count < Self.recordSize - Self.slack {
                    let room = min(sanitizer.pieceSize, Self.recordSize - text.buffer.count)
                    offset += try pieces.read(from: offset, limit: room) {
                        text.sanitizer.append($0, to: &text.buffer)
                    }
                    isOver = offset == pieces.count
                }
            } catch {
                text.sanitizer.finish(to: &text.buffer)
                text.buffer.append(visible: failed(pieces.count - offset, error))
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
    var buffer = ByteBuffer(capacity: 144 * 1024)
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
