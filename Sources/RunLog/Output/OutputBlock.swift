internal import Basics

/// The output of one running step that has not been shown yet, its streams in the order of arrival.
final class OutputBlock {
    /// The size of the records of a long block, and how much shorter they may be: file systems write a few long
    /// records much faster than many short ones.
    private static let (recordSize, slack) = (124 << 10, 8 << 10)

    private let pieces: OutputPieces
    private var ending = LineEnding()

    init(directory: String) {
        pieces = OutputPieces(directory: directory)
    }

    /// True if it is short enough for one record together with the line above it.
    var isSmall: Bool { pieces.areSmall }

    /// Appends output that can be read again at `place`; nil if it cannot. Throws if it cannot be kept; earlier
    /// output is not affected.
    func append(_ output: StepOutput, at place: OutputPlace?) throws(SystemError) {
        if ending.isNeeded(before: output) {
            try withUnsafeBytes(of: UInt8(ascii: "\n")) { (byte) throws(SystemError) in try pieces.append(byte) }
        }
        try pieces.append(output.bytes, at: place)
        ending.note(output)
    }

    /// Appends the whole of a small block.
    func write(through sanitizer: inout OutputSanitizer, to text: inout ByteBuffer) {
        var offset = 0
        while let count = try? pieces.read(from: offset, limit: .max, { sanitizer.append($0, to: &text) }),
            count > 0
        {
            offset += count
        }
        sanitizer.finish(to: &text)
    }

    /// Returns the block as records of bounded size. `failed` receives the number of bytes that could not be read
    /// back and returns the line that reports them.
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

/// The state of a source between two records.
private final class PulledText {
    var buffer = ByteBuffer(capacity: 144 * 1024)
    var sanitizer: OutputSanitizer

    init(_ sanitizer: OutputSanitizer) { self.sanitizer = sanitizer }
}

/// Keeps an unfinished line of one stream from running into a line of another.
struct LineEnding {
    private var unfinished: StepOutput.Stream?

    /// True if the line before `output` is unfinished and of another stream.
    func isNeeded(before output: StepOutput) -> Bool { unfinished != nil && unfinished != output.stream }

    mutating func note(_ output: StepOutput) { unfinished = output.isPartial ? output.stream : nil }
}
