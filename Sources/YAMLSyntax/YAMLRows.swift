internal import Glibc
internal import SourceDiagnostics

/// The rows of a document under construction and after: a growing buffer of its own, because an array pays for every
/// append what storing the row costs, and copies all rows when it grows.
struct YAMLRows: ~Copyable {
    private(set) var base: UnsafeMutablePointer<YAMLRow>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        guard let memory = malloc(capacity * MemoryLayout<YAMLRow>.stride) else { fatalError("no memory for the rows") }
        base = memory.bindMemory(to: YAMLRow.self, capacity: capacity)
        LargeMemory.prepare(UnsafeRawBufferPointer(start: memory, count: capacity * MemoryLayout<YAMLRow>.stride))
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

    private mutating func grow() {
        capacity *= 2
        // Moves large memory by its page table, without a copy.
        guard let memory = realloc(base, capacity * MemoryLayout<YAMLRow>.stride) else {
            fatalError("no memory for the rows")
        }
        base = memory.bindMemory(to: YAMLRow.self, capacity: capacity)
        LargeMemory.prepare(UnsafeRawBufferPointer(start: memory, count: capacity * MemoryLayout<YAMLRow>.stride))
    }
}
