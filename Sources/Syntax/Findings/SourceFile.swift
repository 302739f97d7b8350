import Basics
internal import Glibc
import Synchronization

/// A text and its name; knows where its lines start and nothing about what the text means.
///
/// A file may bring others along that are read with it. Their places follow its own, as if all were one long text, so
/// that a place tells which file it is in. Whoever asks the first file about a place is answered by the right one.
package final class SourceFile: Sendable {
    /// The name as the user wrote it, shown in every place.
    package let name: String
    /// The raw bytes. The place of the first one is `start`.
    package let bytes: [UInt8]
    /// The place of the first byte; 0 for a file that no other brings along.
    package let start: Int
    private let lineStarts = Mutex<[UInt32]?>(nil)
    /// What the file brings along, in the order of places.
    private let others = Mutex<[SourceFile]>([])

    package init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
        start = 0
    }

    private init(name: String, bytes: [UInt8], start: Int) {
        self.name = name
        self.bytes = bytes
        self.start = start
    }

    /// Brings another file along; nil where all files together would be larger than places can count, 4 GiB.
    package func add(name: String, bytes: [UInt8]) -> SourceFile? {
        others.withLock { others in
            let start = (others.last ?? self).end + 1
            guard start + bytes.count < Int(UInt32.max) else { return nil }
            let file = SourceFile(name: name, bytes: bytes, start: start)
            others.append(file)
            return file
        }
    }

    /// The file in which a place is: this one, or one that it brings along.
    package func file(at offset: Int) -> SourceFile {
        guard offset > end else { return self }
        return others.withLock { others in others.last { $0.start <= offset } } ?? self
    }

    /// The file and those that it brings along.
    package var all: [SourceFile] { [self] + others.withLock { $0 } }

    /// Where a text that is not empty could go on.
    private var end: Int { start + bytes.count }

    package convenience init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }

    /// The text of a range; invalid UTF-8 is repaired with U+FFFD.
    package func text(in range: SourceRange) -> String { String(decoding: bytes(in: range), as: UTF8.self) }

    /// The bytes of a range.
    package func bytes(in range: SourceRange) -> ArraySlice<UInt8> {
        let file = file(at: range.lowerOffset)
        return file.bytes[range.lowerOffset - file.start..<range.upperOffset - file.start]
    }

    /// Line and column of a place. The first call walks the text once; later ones are O(log lines) plus a walk of
    /// the line up to the offset.
    package func location(at offset: Int) -> SourceLocation {
        guard offset <= end else { return file(at: offset).ownLocation(at: offset) }
        return ownLocation(at: offset)
    }

    private func ownLocation(at offset: Int) -> SourceLocation {
        let offset = offset - start
        let line = lineIndex(at: offset)
        let start = lineStart(line)
        let end = min(max(offset, start), bytes.count)
        // Summed without a branch, many bytes at once: a file may be a single line of megabytes.
        let continuations = bytes.withUnsafeBufferPointer { bytes in
            var count = 0
            for index in start..<end { count &+= bytes[index] & 0xC0 == 0x80 ? 1 : 0 }
            return count
        }
        return SourceLocation(line: line + 1, column: end - start - continuations + 1)
    }

    /// The line number of a place, from 1; cheaper than `location(at:)`.
    package func line(at offset: Int) -> Int {
        let file = file(at: offset)
        return file.lineIndex(at: offset - file.start) + 1
    }

    /// The bytes of a line (numbered from 1) without its line end; nil where there is no such line.
    package func line(_ number: Int) -> ArraySlice<UInt8>? {
        let bounds: Range<Int>? = withLineStarts { starts in
            guard number >= 1, number <= starts.count else { return nil }
            return Int(starts[number - 1])..<(number < starts.count ? Int(starts[number]) : bytes.count)
        }
        guard let bounds else { return nil }
        var line = bytes[bounds]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private func lineStart(_ index: Int) -> Int { withLineStarts { Int($0[index]) } }

    private func lineIndex(at offset: Int) -> Int {
        withLineStarts { starts in max(1, starts.partitioningIndex { Int($0) > offset }) - 1 }
    }

    private func withLineStarts<Result>(_ body: ([UInt32]) -> sending Result) -> Result {
        lineStarts.withLock { starts in
            if let starts { return body(starts) }
            var found: [UInt32] = [0]
            bytes.withUnsafeBytes { buffer in
                guard let start = buffer.baseAddress else { return }
                var offset = 0
                while let end = memchr(start + offset, 10, buffer.count - offset) {
                    offset = UnsafeRawPointer(end) - start + 1
                    found.append(UInt32(offset))
                }
            }
            starts = found
            return body(found)
        }
    }
}
