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
            guard JournalLine.mayBegin(with: buffer[...]) else {
                judgeEnd()
                return nil
            }
            if readMore() { continue }
            guard failure == nil, !JournalHold.isTaken(descriptor) else { return nil }
            // Its run may have written the rest before it let go.
            if readMore() { continue }
            if failure == nil { judgeEnd() }
            return nil
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

/// The form of a record: one line with a JSON object whose last member is the checksum of all bytes before it.
enum JournalLine {
    /// The length of the longest record, in bytes; no run writes a longer one.
    static let longest = 256 << 20

    private static let prefix: StaticString = #","crc":""#
    private static let suffix: StaticString = #""}"#
    private static var sealSize: Int { prefix.utf8CodeUnitCount + CRC32C.digitCount + suffix.utf8CodeUnitCount }

    /// Appends a record; `body` writes its members.
    static func append(to json: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
        let start = json.count
        json.object { json in
            body(&json)
            let crc = json.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            json.field("crc", digitsOf: crc)
        }
        json.newline()
    }

    /// Returns the record in a line without its line feed; nil unless it is whole and unchanged. The first two lines
    /// of a journal are equal. If the line feed between them has changed, they form one line, whose second half is
    /// returned.
    static func text(of line: UnsafeRawBufferPointer, isFirst: Bool) -> UnsafeRawBufferPointer? {
        if isIntact(line) { return line }
        guard isFirst, line.count % 2 == 1 else { return nil }
        let copy = UnsafeRawBufferPointer(rebasing: line[(line.count / 2 + 1)...])
        return isIntact(copy) ? copy : nil
    }

    /// Parses a line without its line feed; nil unless it is whole and unchanged.
    static func object(_ line: UnsafeRawBufferPointer) -> JSONObject? {
        guard isIntact(line) else { return nil }
        return JSONObject(line)
    }

    /// True if a line that begins with these bytes may be a record.
    static func mayBegin(with bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count <= longest && bytes.first ?? UInt8(ascii: "{") == UInt8(ascii: "{")
    }

    /// True if a line without its line feed is whole and unchanged.
    static func isIntact(_ line: UnsafeRawBufferPointer) -> Bool {
        guard line.count > sealSize else { return false }
        let content = line.count - sealSize
        let digits = content + prefix.utf8CodeUnitCount
        guard has(prefix, line, at: content), has(suffix, line, at: digits + CRC32C.digitCount) else { return false }
        let crc = CRC32C.of(UnsafeRawBufferPointer(rebasing: line[..<content]))
        return UInt64(crc).isHexadecimal(UnsafeRawBufferPointer(rebasing: line[digits..<digits + CRC32C.digitCount]))
    }

    private static func has(_ text: StaticString, _ line: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        memcmp(line.baseAddress! + offset, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
