internal import Basics
internal import Glibc

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

/// The output of one step in the order of arrival: references to a file that has it anyway, and a spool for bytes
/// that are in no file.
final class OutputPieces {
    private struct Piece {
        /// nil for the spool.
        let file: (any OutputSource)?
        /// The offset in the file or the spool.
        let offset: Int
        /// The offset among all pieces.
        let start: Int
        var count: Int

        func isContinued(at offset: Int, of file: (any OutputSource)?) -> Bool {
            self.file === file && self.offset + count == offset
        }
    }

    /// Longer lists would take more memory than they save.
    private static let limit = 4096

    private(set) var count = 0
    private let spool: OutputSpool
    private var pieces: [Piece] = []
    /// The index of the piece that was read last.
    private var current = 0

    init(directory: String) {
        spool = OutputSpool(directory: directory)
    }

    /// True if everything is in memory.
    var areSmall: Bool { spool.isSmall && spool.count == count }

    /// Appends bytes that can be read again at `place`; copies them if it is nil. On an error none of them are kept,
    /// and earlier bytes are not affected.
    func append(_ bytes: UnsafeRawBufferPointer, at place: OutputPlace? = nil) throws(SystemError) {
        if let place, pieces.count < Self.limit { return note(bytes.count, at: place.offset, of: place.file) }
        let offset = spool.count
        try spool.append(bytes)
        note(bytes.count, at: offset, of: nil)
    }

    private func note(_ more: Int, at offset: Int, of file: (any OutputSource)?) {
        if let last = pieces.indices.last, pieces[last].isContinued(at: offset, of: file) {
            pieces[last].count += more
        } else {
            pieces.append(Piece(file: file, offset: offset, start: count, count: more))
        }
        count += more
    }

    /// Passes at most `limit` bytes from `offset` on to `body` and returns their number; 0 at the end.
    func read(
        from offset: Int, limit: Int, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(SystemError) -> Int {
        guard offset < count else { return 0 }
        if pieces[current].start > offset { current = 0 }
        while pieces[current].start + pieces[current].count <= offset { current += 1 }
        let piece = pieces[current]
        let skipped = offset - piece.start
        let limit = min(limit, piece.count - skipped)
        guard let file = piece.file else { return try spool.read(from: piece.offset + skipped, limit: limit, body) }
        var failure: SystemError?
        let length = withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { buffer in
            do throws(SystemError) {
                let count = try file.read(into: buffer, from: piece.offset + skipped)
                guard count > 0 else { throw SystemError(EIO) }
                body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                return count
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return length
    }
}

/// The part of a step's output that is shown if the whole would be too long: its last lines.
enum OutputExcerpt {
    private static let lines = 20

    /// Returns the offset of the last lines; 0 if the output has no more than those.
    static func start(in output: UnsafeRawBufferPointer) -> Int {
        var lines = 0
        for offset in output.indices.dropLast().reversed() where output[offset] == UInt8(ascii: "\n") {
            lines += 1
            if lines == Self.lines { return offset + 1 }
        }
        return 0
    }
}

/// The way the text log shows the steps' own output, `--output`.
package enum OutputMode: String, Sendable, CaseIterable {
    /// A step's output as one block when it has ended.
    case grouped
    /// Whole lines as they come, each marked with its step's id.
    case stream
    /// Blocks only of steps that did not succeed.
    case failed
    case none
}

extension OutputMode {
    init(_ view: OutputView) {
        self =
            switch view {
            case .live: .stream
            case .grouped: .grouped
            case .quiet: .failed
            }
    }
}
