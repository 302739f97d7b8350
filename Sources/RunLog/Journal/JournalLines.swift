internal import Basics
internal import Glibc

/// The whole records at the start of a journal, in order.
struct JournalLines {
    private static let chunkSize = 64 << 10
    private static let newline = Int32(UInt8(ascii: "\n"))

    /// The size of the records read so far, in bytes.
    private(set) var size = 0
    /// The end of the records, if the file continues after it with something that is no torn record.
    private(set) var damage: JournalDamage?
    /// The first of the first three lines that was changed.
    private(set) var skipped: JournalDamage?
    /// The place of the last record.
    private(set) var place = JournalDamage(offset: 0, line: 0)
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// The start of the next line in `buffer`.
    private var start = 0
    private var isOver = false
    /// The error that ended reading; nil if there was none.
    private(set) var failure: SystemError?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Opens the journal in the folder of its run for reading; a negative number if that fails.
    static func open(in folder: Int32) -> Int32 {
        openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    }

    /// Returns the next record; nil at the end, and from then on after a torn or changed line.
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
                // The header is written twice, so that one of the two lines may be lost. A changed byte may have
                // become a line feed and split one line in two.
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

    /// Ignores a torn end: a killed run leaves the beginning of a record, and a machine that stops may leave zeros.
    /// It is damage if records follow, or if only the line feed is missing or has changed.
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
