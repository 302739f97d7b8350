internal import Basics
internal import Glibc

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
            json.field("crc", CRC32C.digits(crc))
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
