import Basics
internal import Glibc
import Synchronization

/// A text and its name; knows where its lines start and nothing about what the text means.
///
/// A file may include others that are read with it. Their places follow its own, as if all were one long text, so
/// that a place determines its file. The first file answers questions about all places.
package final class SourceFile: Sendable {
    /// The name as the user wrote it, shown in every place.
    package let name: String
    /// The raw bytes. The place of the first one is `start`.
    package let bytes: [UInt8]
    /// The place of the first byte; 0 for a file that is not included by another.
    package let start: Int
    private let lineStarts = Mutex<[UInt32]?>(nil)
    /// The included files, in the order of places.
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

    /// Includes another file; nil if all files together would be larger than places can count, 4 GiB.
    package func add(name: String, bytes: [UInt8]) -> SourceFile? {
        others.withLock { others in
            let start = (others.last ?? self).end + 1
            guard start + bytes.count < Int(UInt32.max) else { return nil }
            let file = SourceFile(name: name, bytes: bytes, start: start)
            others.append(file)
            return file
        }
    }

    /// The file that contains a place: this one, or one that it includes.
    package func file(at offset: Int) -> SourceFile {
        guard offset > end else { return self }
        return others.withLock { others in others.last { $0.start <= offset } } ?? self
    }

    /// The file and those that it includes.
    package var all: [SourceFile] { [self] + others.withLock { $0 } }

    /// The place after the last byte.
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

    /// The bytes of a line (numbered from 1) without its line end; nil if there is no such line.
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

extension SourceFile {
    /// True if the file has a text, which is not empty, anywhere. O(length).
    package func mentions(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while rest.count >= count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                let found = memchr(start, Int32(text.utf8Start.pointee), rest.count - count + 1)
            {
                if memcmp(found, text.utf8Start, count) == 0 { return true }
                rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
            }
            return false
        }
    }

    /// The largest file that is read, in bytes: 64 MiB.
    package static let sizeLimit = 64 << 20

    /// Reads a file, or standard input if `path` is `-` (named `<stdin>` in places).
    ///
    /// Never waits for a pipe or a device, because those are refused by their kind; standard input is read to its
    /// end. If the file cannot be read, the diagnostic says why and `file` is empty.
    package static func read(_ path: String) -> (file: SourceFile, diagnostic: Diagnostic?) {
        let name = path == "-" ? "<stdin>" : path
        do throws(ReadingError) {
            return (SourceFile(name: name, bytes: try path == "-" ? readStandardInput() : readFile(path)), nil)
        } catch {
            let file = SourceFile(name: name, bytes: [])
            return (
                file, Diagnostic(error.code, error.message, in: file, at: .beginning, fix: error.fix.map { .init($0) })
            )
        }
    }

    private struct ReadingError: Error {
        var code = DiagnosticCode.unreadableFile
        var message: String
        var fix: String?

        static func tooLarge(_ size: Int?) -> ReadingError {
            let found = size.map { "the file has \(($0 + (1 << 20) - 1) >> 20) MiB" } ?? "the input goes on"
            return ReadingError(
                code: .fileTooLarge, message: "\(found), at most \(sizeLimit >> 20) MiB are read",
                fix: "split the workflow into several files")
        }

        static func system(_ operation: String, _ number: Int32) -> ReadingError {
            ReadingError(message: "cannot \(operation): \(String(cString: strerror(number)))")
        }
    }

    private static func readFile(_ path: String) throws(ReadingError) -> [UInt8] {
        // Non-blocking, so that opening a fifo without a writer returns at once.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw errno == ENOENT ? ReadingError(message: "there is no such file") : .system("open the file", errno)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("look at the file", errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR:
            throw ReadingError(
                message: "this is a directory, expected a workflow file", fix: "name the file in it")
        default:
            throw ReadingError(
                message: "this is neither a file nor a directory, expected a workflow file",
                fix: "to read from a pipe, give `-` and connect it to standard input")
        }
        guard status.st_size <= sizeLimit else { throw .tooLarge(Int(status.st_size)) }
        return try readToEnd(descriptor, expecting: Int(status.st_size))
    }

    private static func readStandardInput() throws(ReadingError) -> [UInt8] {
        try readToEnd(STDIN_FILENO, expecting: 0)
    }

    /// Takes one read and no copy if `size` is right; more if the input is longer or of unknown length.
    private static func readToEnd(_ descriptor: Int32, expecting size: Int) throws(ReadingError) -> [UInt8] {
        var bytes: [UInt8] = []
        var capacity = max(size, 64 << 10) + 1
        while true {
            var failure: Int32 = 0
            bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
                count = buffer.update(fromContentsOf: bytes)
                failure = fill(buffer, &count, from: descriptor)
            }
            guard failure == 0 else { throw .system("read the file", failure) }
            guard bytes.count <= sizeLimit else { throw .tooLarge(nil) }
            guard bytes.count == capacity else { return bytes }
            // One byte more than the limit, so that exceeding it shows.
            capacity = min(capacity * 2, sizeLimit + 1)
        }
    }

    /// Reads until the buffer is full or the input ends; returns the errno of a failure, or 0.
    private static func fill(
        _ buffer: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int, from descriptor: Int32
    ) -> Int32 {
        while count < buffer.count, let base = buffer.baseAddress {
            let got = Glibc.read(descriptor, base + count, buffer.count - count)
            if got == 0 { return 0 }
            if got > 0 {
                count += got
            } else if errno == EAGAIN {
                var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&ready, 1, -1)
            } else if errno != EINTR {
                return errno
            }
        }
        return 0
    }
}

/// A half-open range of places in one `SourceFile`, counted in bytes. Eight bytes, because a large workflow holds a
/// million of them.
package struct SourceRange: Hashable, Sendable {
    package let start: UInt32
    package let end: UInt32

    package init(start: UInt32, end: UInt32) {
        self.start = start
        self.end = max(start, end)
    }

    package init(_ range: Range<Int>) {
        self.init(start: UInt32(range.lowerBound), end: UInt32(range.upperBound))
    }

    /// The place before the first byte.
    package static let beginning = SourceRange(start: 0, end: 0)

    /// From the start of this range to the end of a later one.
    package func joined(with other: SourceRange) -> SourceRange {
        SourceRange(start: start, end: Swift.max(end, other.end))
    }

    /// Returns the range moved by a distance, for a file whose first byte is at another place.
    package func moved(by distance: Int) -> SourceRange {
        SourceRange(lowerOffset + distance..<upperOffset + distance)
    }

    package var lowerOffset: Int { Int(start) }
    package var upperOffset: Int { Int(end) }
}

/// A place as editors count it: line and column from 1, columns in Unicode scalars.
package struct SourceLocation: Hashable, Comparable, Sendable {
    package let line: Int
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    package static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
