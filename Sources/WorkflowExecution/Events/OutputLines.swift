/// Cuts what arrives on one stream into whole lines, so that no record ends inside one unless it has to.
struct OutputLines {
    /// The longest line that is waited for.
    static let limit = 64 << 10

    private var rest: [UInt8] = []

    /// Calls `emit` with whole lines, at most one call; with a part of a line only where it reaches the limit.
    mutating func append(_ bytes: UnsafeRawBufferPointer, emit: ([UInt8], _ isPartial: Bool) -> Void) {
        if let last = bytes.lastIndex(of: 10) {
            let count = last + 1
            rest.append(contentsOf: bytes[..<count])
            emit(take(), false)
            rest.append(contentsOf: bytes[count...])
        } else {
            rest.append(contentsOf: bytes)
        }
        if rest.count >= Self.limit { emit(take(upTo: Self.boundary(in: rest)), true) }
    }

    /// What is left at the end of the stream: a line without its end.
    mutating func finish(emit: ([UInt8], _ isPartial: Bool) -> Void) {
        if !rest.isEmpty { emit(take(), true) }
    }

    private mutating func take() -> [UInt8] {
        defer { rest = [] }
        return rest
    }

    private mutating func take(upTo count: Int) -> [UInt8] {
        let head = Array(rest[..<count])
        rest.removeFirst(count)
        return head
    }

    /// Where the bytes can be cut without splitting a UTF-8 sequence; all of them where they are no UTF-8.
    private static func boundary(in bytes: [UInt8]) -> Int {
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

    mutating func append(_ new: [UInt8]) {
        bytes.append(contentsOf: new.suffix(Self.limit))
        if bytes.count > 4 * Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// At most `limit` bytes; starts at the beginning of a line where there is one.
    var lines: [UInt8] {
        guard bytes.count > Self.limit else { return bytes }
        let tail = bytes.suffix(Self.limit)
        guard let lineEnd = tail.firstIndex(of: 10), lineEnd + 1 < tail.endIndex else { return Array(tail) }
        return Array(tail[(lineEnd + 1)...])
    }
}
