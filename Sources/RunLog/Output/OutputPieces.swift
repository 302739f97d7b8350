internal import Basics
internal import Glibc

/// What a step has written, in the order in which it came: references to a file that has it anyway, and a spool for what
/// can be read nowhere else.
final class OutputPieces {
    private struct Piece {
        /// nil for the spool.
        let file: (any OutputSource)?
        /// Where it is in the file or the spool.
        let offset: Int
        /// Where it is among all pieces.
        let start: Int
        var count: Int

        func isContinued(at offset: Int, of file: (any OutputSource)?) -> Bool {
            self.file === file && self.offset + count == offset
        }
    }

    /// A list with more pieces than this would take more memory than it is worth.
    private static let limit = 4096

    private(set) var count = 0
    private let spool: OutputSpool
    private var pieces: [Piece] = []
    /// The one that was read last.
    private var current = 0

    init(directory: String) {
        spool = OutputSpool(directory: directory)
    }

    /// Whether everything is in memory.
    var areSmall: Bool { spool.isSmall && spool.count == count }

    /// `place` is where the bytes can be read again; they are copied where it is nil. Throws where they cannot be kept:
    /// then nothing of them is, and all that was kept before still is.
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

    /// Hands out what stands at `offset`, at most `limit` bytes, and returns how much that is; 0 at the end.
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
