internal import Basics
internal import Glibc

/// Cuts the bytes of one stream into whole lines, so that no record ends inside a line unless it has to. Copies only
/// the unfinished line.
struct OutputLines {
    /// The longest line that is waited for, and the longest piece, in bytes.
    static let limit = 64 << 10
    /// The largest chunk that is copied after an unfinished line, for one record instead of two.
    private static let shortChunk = 4 << 10

    /// The most bytes of an unfinished line that are shown.
    private static let shownLength = 1 << 10

    private var rest: [UInt8] = []

    /// The end of the line that waits for its end, in whole characters; empty if there is none.
    var unfinished: [UInt8] {
        let shown = rest.suffix(Self.shownLength)
        let start = shown.count < rest.count ? shown.firstIndex { $0 & 0xC0 != 0x80 } ?? rest.count : 0
        let end = rest.withUnsafeBytes(Self.boundary)
        return start < end ? Array(rest[start..<end]) : []
    }

    /// Calls `emit` with whole lines, and with a part of a line only if that is longer than the limit; no piece is
    /// longer. The bytes are valid during the call.
    mutating func append(_ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        var bytes = bytes
        if !rest.isEmpty, let end = Self.endOfFirstLine(in: bytes) {
            let joined = bytes.count <= Self.shortChunk ? Self.endOfLastLine(in: bytes) ?? end : end
            rest.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[..<joined]))
            emitRest(isPartial: false, emit)
            bytes = UnsafeRawBufferPointer(rebasing: bytes[joined...])
        }
        if rest.isEmpty, let end = Self.endOfLastLine(in: bytes) {
            Self.emit(UnsafeRawBufferPointer(rebasing: bytes[..<end]), isPartial: false, emit)
            bytes = UnsafeRawBufferPointer(rebasing: bytes[end...])
        }
        rest.append(contentsOf: bytes)
        guard rest.count >= Self.limit else { return }
        let kept = rest.withUnsafeBytes { Self.emitFull($0, emit).count }
        rest.removeFirst(rest.count - kept)
    }

    /// Emits what is left at the end of the stream: a line without its end.
    mutating func finish(emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        if !rest.isEmpty { emitRest(isPartial: true, emit) }
    }

    private mutating func emitRest(isPartial: Bool, _ emit: (UnsafeRawBufferPointer, Bool) -> Void) {
        rest.withUnsafeBytes { Self.emit($0, isPartial: isPartial, emit) }
        // One long line must not keep its memory for the rest of the step.
        rest.removeAll(keepingCapacity: rest.capacity <= Self.shortChunk)
    }

    // MARK: Pieces of a bounded size

    private static func emit(
        _ bytes: UnsafeRawBufferPointer, isPartial: Bool, _ emit: (UnsafeRawBufferPointer, Bool) -> Void
    ) {
        let last = bytes.count > limit ? emitFull(bytes, emit) : bytes
        if !last.isEmpty { emit(last, isPartial) }
    }

    /// Emits pieces up to the limit. Returns what is left: bytes shorter than the limit, or whole lines just as long.
    private static func emitFull(
        _ bytes: UnsafeRawBufferPointer, _ emit: (UnsafeRawBufferPointer, Bool) -> Void
    ) -> UnsafeRawBufferPointer {
        var rest = bytes
        while rest.count >= limit, rest.count > limit || rest.last != 10 {
            let window = UnsafeRawBufferPointer(rebasing: rest[..<limit])
            let line = endOfLastLine(in: window)
            // A progress bar without a line end is cut between two of its states.
            let end = line ?? window.lastIndex(of: 13).map { $0 + 1 } ?? boundary(in: window)
            emit(UnsafeRawBufferPointer(rebasing: rest[..<end]), line == nil)
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        return rest
    }

    private static func endOfFirstLine(in bytes: UnsafeRawBufferPointer) -> Int? {
        guard let start = bytes.baseAddress, let found = memchr(start, 10, bytes.count) else { return nil }
        return UnsafeRawPointer(found) - start + 1
    }

    private static func endOfLastLine(in bytes: UnsafeRawBufferPointer) -> Int? {
        bytes.lastIndex(of: 10).map { $0 + 1 }
    }

    /// Returns the last place where the bytes can be cut without splitting a UTF-8 sequence; their end if they are
    /// not UTF-8.
    private static func boundary(in bytes: UnsafeRawBufferPointer) -> Int {
        for back in 1...4 where bytes.count > back {
            let byte = bytes[bytes.count - back]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte < 0x80 ? 1 : byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2
            return length > back ? bytes.count - back : bytes.count
        }
        return bytes.count
    }
}

/// The last lines that a step wrote, for the summary of errors.
struct OutputTail {
    static let limit = 4 << 10

    private var bytes: [UInt8] = []

    /// Adds lines; of those that were overwritten, such as the states of a progress bar, only the last state.
    mutating func append(_ lines: UnsafeRawBufferPointer) {
        // Of many bytes only the last ones matter; they are checked first.
        let end = UnsafeRawBufferPointer(rebasing: lines.suffix(Self.limit))
        if OverwrittenLines.lastStates(of: end) != nil, let states = OverwrittenLines.lastStates(of: lines) {
            states.withUnsafeBytes { keep($0) }
        } else {
            keep(lines)
        }
    }

    private mutating func keep(_ new: UnsafeRawBufferPointer) {
        if new.count >= Self.limit { bytes.removeAll(keepingCapacity: true) }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: new.suffix(Self.limit)))
        if bytes.count > 4 * Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// At most `limit` bytes; starts at the beginning of a line if there is one.
    var lines: [UInt8] {
        guard bytes.count > Self.limit else { return bytes }
        let tail = bytes.suffix(Self.limit)
        guard let lineEnd = tail.firstIndex(of: 10), lineEnd + 1 < tail.endIndex else { return Array(tail) }
        return Array(tail[(lineEnd + 1)...])
    }
}

/// One stream of a running step: secrets masked, then cut into whole lines.
struct StepStream {
    private var mask: SecretMask?
    private var lines = OutputLines()

    /// `mask` is a fresh one; nil if there is nothing to hide.
    init(mask: SecretMask?) { self.mask = mask }

    /// The end of the line that waits for its end, as far as it is known to hold no secret.
    var unfinished: [UInt8] { lines.unfinished }

    /// Calls `emit` with the lines that are complete, as `OutputLines` does.
    mutating func append(_ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        // Taken out, so that what it emits can be appended meanwhile.
        guard var mask = mask.take() else { return lines.append(bytes, emit: emit) }
        mask.feed(bytes) { lines.append($0, emit: emit) }
        self.mask = mask
    }

    /// Emits what is left at the end.
    mutating func finish(emit: (UnsafeRawBufferPointer, _ isPartial: Bool) -> Void) {
        if var mask = mask.take() { mask.finish { lines.append($0, emit: emit) } }
        lines.finish(emit: emit)
    }
}
