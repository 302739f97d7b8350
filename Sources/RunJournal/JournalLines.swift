internal import Basics
internal import Glibc

/// The whole records at the start of a journal, one after the other.
struct JournalLines {
    private static let chunkSize = 64 << 10

    /// How many bytes the records so far take.
    private(set) var size = 0
    private let descriptor: Int32
    private var buffer: [UInt8] = []
    /// Where the next line begins.
    private var start = 0
    private var isOver = false
    /// Why the file could not be read any further; nil where it could.
    private(set) var failure: SystemError?

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// The next record of those whose text `isWanted` takes; nil at the end, and for good at a line that was torn or
    /// changed.
    mutating func next(where isWanted: (UnsafeRawBufferPointer) -> Bool = { _ in true }) -> JSONObject? {
        while !isOver, let end = endOfLine() {
            var isPassedOver = false
            let record = buffer.withUnsafeBytes { bytes -> JSONObject? in
                let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                guard JournalLine.isIntact(line) else { return nil }
                isPassedOver = !isWanted(line)
                return isPassedOver ? nil : JSONObject(line)
            }
            isOver = record == nil && !isPassedOver
            if !isOver { size += end + 1 - start }
            start = end + 1
            if !isPassedOver { return record }
        }
        isOver = true
        return nil
    }

    private mutating func endOfLine() -> Int? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return end }
            searched = buffer.count - start
            buffer.removeFirst(start)
            start = 0
            guard JournalLine.mayBegin(with: buffer[...]), readMore() else { return nil }
        }
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
