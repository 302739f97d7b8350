internal import Basics
internal import Glibc

/// The form of a record: one line, a JSON object whose last member is the checksum of what stands before it.
enum JournalLine {
    /// No record is longer, in bytes; what is has not been written by a run.
    static let longest = 256 << 20

    private static let prefix: StaticString = #","crc":""#
    private static let suffix: StaticString = #""}"#
    private static var sealSize: Int { prefix.utf8CodeUnitCount + CRC32C.digitCount + suffix.utf8CodeUnitCount }

    /// Appends a record whose members `body` writes.
    static func append(to json: inout JSONWriter, _ body: (inout JSONWriter) -> Void) {
        let start = json.count
        json.object { json in
            body(&json)
            let crc = json.withUnsafeBytes { CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[start...])) }
            json.field("crc", CRC32C.digits(crc))
        }
        json.newline()
    }

    /// The record in a line without its end; nil unless it is whole and unchanged. The first line may have the second one,
    /// which is like it, in itself: then the end between them has changed.
    static func text(of line: UnsafeRawBufferPointer, isFirst: Bool) -> UnsafeRawBufferPointer? {
        if isIntact(line) { return line }
        guard isFirst, line.count % 2 == 1 else { return nil }
        let copy = UnsafeRawBufferPointer(rebasing: line[(line.count / 2 + 1)...])
        return isIntact(copy) ? copy : nil
    }

    /// What a line without its end says; nil unless it is whole and unchanged.
    static func object(_ line: UnsafeRawBufferPointer) -> JSONObject? {
        guard isIntact(line) else { return nil }
        return JSONObject(line)
    }

    /// True if a line may be a record, by the bytes read so far.
    static func mayBegin(with bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count <= longest && bytes.first ?? UInt8(ascii: "{") == UInt8(ascii: "{")
    }

    /// True if a line without its end is whole and unchanged.
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
