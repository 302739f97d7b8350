internal import Glibc

/// Lines that their program has overwritten with carriage returns, as progress bars do.
package enum OverwrittenLines {
    /// Returns the bytes with each overwritten line in its last state; nil if there is no such line. Where blanks
    /// only erased a line, the text before them counts. A last line that ends in a carriage return gets a line feed,
    /// so that later output begins a new line.
    package static func lastStates(of bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let start = bytes.baseAddress, memchr(start, carriageReturn, bytes.count) != nil else { return nil }
        var result: [UInt8]?
        var line = 0
        while line < bytes.count {
            let end = memchr(start + line, lineFeed, bytes.count - line).map { UnsafeRawPointer($0) - start }
            let text = UnsafeRawBufferPointer(rebasing: bytes[line..<(end ?? bytes.count)])
            let state = lastState(of: text)
            if result == nil, state.count < text.count, !isEndOnly(text, state, isWhole: end != nil) {
                result = Array(bytes[..<line])
            }
            result?.append(contentsOf: state)
            if end != nil || text.last == UInt8(carriageReturn) { result?.append(UInt8(lineFeed)) }
            line = (end ?? bytes.count) + 1
        }
        return result
    }

    /// True if the line loses only the carriage return in front of its line feed, which means nothing.
    private static func isEndOnly(
        _ line: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer, isWhole: Bool
    ) -> Bool {
        isWhole && state.count == line.count - 1 && state.baseAddress == line.baseAddress
    }

    /// Returns the text after the last carriage return that is followed by anything but blanks.
    private static func lastState(of line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var end = line.count
        while true {
            while end > 0, line[end - 1] == UInt8(carriageReturn) { end -= 1 }
            let start = line[..<end].lastIndex(of: UInt8(carriageReturn)).map { $0 + 1 } ?? 0
            let isBlank = line[start..<end].allSatisfy { $0 == UInt8(ascii: " ") }
            if start == 0 || !isBlank { return UnsafeRawBufferPointer(rebasing: line[start..<end]) }
            end = start
        }
    }

    private static let carriageReturn: Int32 = 13
    private static let lineFeed: Int32 = 10
}
