internal import Glibc

/// A node in twelve bytes. Places fit into 28 bits, because a file is at most 64 MiB long.
struct YAMLRow {
    enum Kind: UInt8 {
        case plain, singleQuoted, doubleQuoted, literal, folded
        case sequence, mapping
        case alias
        /// An alias that could not be resolved; reported already.
        case invalid

        /// The number of characters before a scalar's value and after it.
        var quote: Int { self == .singleQuoted || self == .doubleQuoted ? 1 : 0 }
    }

    private static let placeMask: UInt32 = 1 << 28 - 1
    private static let copiedFlag: UInt32 = 1 << 30
    private static let refusedFlag: UInt32 = 1 << 31

    /// The start of the node, without anchor and tag, and its kind in the highest bits.
    private let startBits: UInt32
    /// The end of the node, and flags in the highest bits.
    private var endBits: UInt32
    /// Collection: one past its last row. Alias: the row it refers to. Scalar with a copied value: the place of the
    /// copy.
    var link: UInt32

    init(_ kind: Kind, from start: Int, to end: Int, link: UInt32 = 0) {
        startBits = UInt32(start) | UInt32(kind.rawValue) << 28
        endBits = UInt32(end)
        self.link = link
    }

    /// Made from a kind, so checking that it is one would be a waste.
    var kind: Kind { unsafeBitCast(UInt8(truncatingIfNeeded: startBits >> 28), to: Kind.self) }

    var start: UInt32 { startBits & Self.placeMask }

    var end: UInt32 {
        get { endBits & Self.placeMask }
        set { endBits = endBits & ~Self.placeMask | newValue }
    }

    var range: SourceRange { SourceRange(start: start, end: end) }

    /// The range in a text whose first byte is at `place`.
    func range(from place: UInt32) -> SourceRange { SourceRange(start: place &+ start, end: place &+ end) }

    /// Scalar: the value is in `copiedText`, not in the source.
    var isCopied: Bool { endBits & Self.copiedFlag != 0 }

    /// A refused key, with its value: a duplicate, a merge key, a collection. Readers skip the entry.
    var isRefusedKey: Bool { endBits & Self.refusedFlag != 0 }

    mutating func markRefusedKey() { endBits |= Self.refusedFlag }

    mutating func markCopied(at offset: Int) {
        endBits |= Self.copiedFlag
        link = UInt32(offset)
    }

    var isCollection: Bool { kind == .sequence || kind == .mapping }

    /// The row after this node and everything in it, given its own number.
    func end(at row: UInt32) -> UInt32 { isCollection ? link : row &+ 1 }

    /// The place of the value of a scalar that the source spells as it is.
    var valueInSource: Range<Int> {
        let quote = kind.quote
        return Int(start) + quote..<Int(end) - quote
    }

    /// The value of a scalar.
    func value(
        _ source: UnsafeBufferPointer<UInt8>, _ copiedText: UnsafeBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8> {
        guard isCopied else {
            let value = valueInSource
            precondition(value.upperBound <= source.count)
            return UnsafeBufferPointer(start: source.baseAddress.map { $0 + value.lowerBound }, count: value.count)
        }
        let start = Int(link) + 4
        let length = UnsafeRawBufferPointer(copiedText).loadUnaligned(fromByteOffset: Int(link), as: UInt32.self)
        return UnsafeBufferPointer(rebasing: copiedText[start..<start + Int(length)])
    }
}

/// The rows of a document, under construction and after: a growing buffer of its own, because for an array an append
/// costs as much again as storing the row, and all rows are copied when it grows.
struct YAMLRows: ~Copyable {
    private(set) var base: UnsafeMutablePointer<YAMLRow>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        guard let memory = malloc(capacity * MemoryLayout<YAMLRow>.stride) else { fatalError("no memory for the rows") }
        base = memory.bindMemory(to: YAMLRow.self, capacity: capacity)
    }

    deinit { free(base) }

    subscript(row: UInt32) -> YAMLRow {
        _read {
            precondition(row < count, "row \(row) of \(count)")
            yield base[Int(row)]
        }
        _modify {
            precondition(row < count, "row \(row) of \(count)")
            yield &base[Int(row)]
        }
    }

    mutating func append(_ row: YAMLRow) {
        if count == capacity { grow() }
        (base + count).initialize(to: row)
        count += 1
    }

    var buffer: UnsafeBufferPointer<YAMLRow> { UnsafeBufferPointer(start: base, count: count) }

    /// Gives the pages that hold nothing but these rows back to the system; later they read as zeros.
    static func release(_ rows: Range<UnsafePointer<YAMLRow>>) {
        let page = UInt(getpagesize())
        let start = (UInt(bitPattern: rows.lowerBound) + page - 1) / page * page
        let end = UInt(bitPattern: rows.upperBound) / page * page
        guard start < end else { return }
        madvise(UnsafeMutableRawPointer(bitPattern: start), Int(end - start), MADV_DONTNEED)
    }

    private mutating func grow() {
        capacity *= 2
        // Moves large memory by its page table, without a copy.
        guard let memory = realloc(base, capacity * MemoryLayout<YAMLRow>.stride) else {
            fatalError("no memory for the rows")
        }
        base = memory.bindMemory(to: YAMLRow.self, capacity: capacity)
    }
}
