internal import Basics
internal import Glibc

/// The whole records at the start of a journal, one after the other.
struct JournalLines {
    private static let chunkSize = 64 << 10
    private static let newline = Int32(UInt8(ascii: "\n"))

    /// How many bytes the records so far take.
    private(set) var size = 0
    /// The end of the records, if the file goes on after it.
    private(set) var damage: JournalDamage?
    /// The first of the first three lines that was changed.
    private(set) var skipped: JournalDamage?
    /// The place of the last record.
    private(set) var place = JournalDamage(offset: 0, line: 0)
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    private var isOver = false
    /// Why the file could not be read any further; nil where it could.
    private(set) var failure: SystemError?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next record; nil at the end, and for good at a line that was torn or changed.
    mutating func next() -> JSONObject? { next(JSONObject.init) }

    /// The first result of `read` that is not nil, record by record; nil at the end or at a damaged line.
    mutating func next<Result>(_ read: (UnsafeRawBufferPointer) -> Result?) -> Result? {
        while !isOver {
            guard let end = endOfLine() else { break }
            var isIntact = true
            let record = buffer.withUnsafeBytes { bytes -> Result? in
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                if let record = JournalLine.text(of: line, isFirst: place.line == 0) { return read(record) }
                isIntact = false
                return nil
            }
            let next = JournalDamage(offset: size, line: place.line + 1)
            if !isIntact {
                // The record about the run as a whole is there twice, so that one may be lost. A changed byte may have
                // become a line end and split one line in two.
                guard next.line <= 3 else {
                    damage = next
                    break
                }
                skipped = skipped ?? next
            }
            place = next
            size += end + 1 - start
            start = end + 1
            if let record { return record }
        }
        isOver = true
        return nil
    }

    private mutating func endOfLine() -> Int? {
        var searched = start
        while true {
            if let end = newline(from: searched) { return end }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard JournalLine.mayBegin(with: buffer[...]), readMore() else {
                if failure == nil { judgeEnd() }
                return nil
            }
        }
    }

    private func newline(from start: Int) -> Int? {
        buffer.withUnsafeBytes { bytes in
            guard start < bytes.count, let base = bytes.baseAddress else { return nil }
            return memchr(base + start, Self.newline, bytes.count - start).map { UnsafeRawPointer($0) - base }
        }
    }

    /// A run that is killed leaves the beginning of a record, and a machine that stops may leave zeros. Where records
    /// follow, or nothing but the end of a line is missing or another byte, it was something else.
    private mutating func judgeEnd() {
        guard !buffer.isEmpty, !JournalHold.isTaken(descriptor) else { return }
        let isWhole = buffer.dropLast().withUnsafeBytes { JournalLine.isIntact($0) }
        guard isWhole || JournalEnd.isRecord(atEndOf: descriptor) else { return }
        damage = JournalDamage(offset: size, line: place.line + 1)
    }

    private mutating func readMore() -> Bool {
        let count = withUnsafeTemporaryAllocation(byteCount: Self.chunkSize, alignment: 16) { chunk in
            while true {
                let count = read(descriptor, chunk.baseAddress, chunk.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failure = .last }
                if count > 0 { buffer.append(contentsOf: chunk[..<count]) }
                return count
            }
        }
        return count > 0
    }
}
