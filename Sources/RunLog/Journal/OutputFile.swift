internal import Basics
internal import Glibc

/// The file beside the journal with the output of one attempt that is too long for the journal; or only the end of
/// that output, if the run had no room for the rest.
final class OutputFile: OutputSource, Sendable {
    private let descriptor: Int32
    /// The number of bytes of the output before those in the file.
    let missing: Int
    /// The offset in the file at which the output begins.
    private let start: Int

    private init(descriptor: Int32, missing: Int = 0, start: Int = 0) {
        self.descriptor = descriptor
        self.missing = missing
        self.start = start
    }

    deinit { close(descriptor) }

    /// Makes a file; throws if it exists.
    static func make(_ name: String, in folder: Int32) throws(SystemError) -> OutputFile {
        let file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        return OutputFile(descriptor: file)
    }

    /// Opens the file of this name, or the file with the part of its end that was kept.
    static func existing(_ name: String, in folder: Int32) -> OutputFile? {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else { return nil }
        if let file = opened(name, in: folder) { return OutputFile(descriptor: file) }
        guard errno == ENOENT, let file = opened(name + endSuffix, in: folder) else { return nil }
        guard let (missing, start) = notice(of: file) else {
            close(file)
            return nil
        }
        return OutputFile(descriptor: file, missing: missing, start: start)
    }

    private static func opened(_ name: String, in folder: Int32) -> Int32? {
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        return file < 0 ? nil : file
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = pwrite(
                descriptor, bytes.baseAddress! + written, bytes.count - written, off_t(offset + written))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 ? .last : SystemError(ENOSPC) }
            written += count
        }
    }

    /// Gives the file another name, and returns the file; nil if it does not have the first name any more.
    func renamed(_ name: String, to other: String, in folder: Int32) throws(SystemError) -> OutputFile? {
        if renameat(folder, name, folder, other) == 0 { return self }
        guard errno == ENOENT else { throw .last }
        return nil
    }

    /// Removes the bytes from this offset on.
    func cut(after size: Int) throws(SystemError) { if ftruncate(descriptor, off_t(size)) != 0 { throw .last } }

    /// Reads exactly `count` bytes; nil if that is not possible.
    func bytes(from offset: Int, count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = (try? read(into: UnsafeMutableRawBufferPointer(buffer), from: offset)) ?? 0
        }
        return bytes.count == count ? bytes : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int {
        guard offset >= missing else { return 0 }
        var filled = 0
        while filled < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress! + filled, buffer.count - filled,
                off_t(offset - missing + start + filled))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Syncs the file's data to the disk.
    func sync() throws(SystemError) { if fdatasync(descriptor) != 0 { throw .last } }
}

// MARK: - The end of a file

extension OutputFile {
    private static let endSuffix = ".end"
    private static let noticeWords = " bytes before this were not kept]\n"

    /// Keeps only the end of a file, by copying it to another one, so that processes that have the first one open can
    /// continue to read. Returns the number of bytes saved.
    static func cut(
        _ name: String, before missing: Int, in folder: Int32, isDurable: Bool
    ) throws(SystemError) -> Int {
        guard let descriptor = opened(name, in: folder) else { return 0 }
        let whole = OutputFile(descriptor: descriptor)
        let end = try make(name + endSuffix, in: folder)
        do throws(SystemError) {
            var size = 0
            var bytes = Array("[\(missing)\(noticeWords)".utf8)
            var offset = missing
            while !bytes.isEmpty {
                try end.write(bytes, at: size)
                size += bytes.count
                bytes = try whole.bytes(from: offset, limit: KeptOutput.tailSize)
                offset += bytes.count
            }
            if isDurable { try end.sync() }
        } catch {
            unlinkat(folder, name + endSuffix, 0)
            throw error
        }
        unlinkat(folder, name, 0)
        return missing
    }

    private func bytes(from offset: Int, limit: Int) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, filled in
            do throws(SystemError) {
                filled = try read(into: UnsafeMutableRawBufferPointer(buffer), from: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try write(bytes, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Parses the notice at the start of a file: the number of missing bytes, and the length of the notice.
    private static func notice(of file: Int32) -> (missing: Int, length: Int)? {
        let head = [UInt8](unsafeUninitializedCapacity: 64) { buffer, filled in
            filled = max(pread(file, buffer.baseAddress, buffer.count, 0), 0)
        }
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")), head.first == UInt8(ascii: "[") else { return nil }
        let line = String(decoding: head[1...end], as: UTF8.self)
        guard line.hasSuffix(noticeWords), let missing = Int(line.dropLast(noticeWords.utf8.count)), missing > 0 else {
            return nil
        }
        return (missing, end + 1)
    }
}

/// The space for the run's output in files.
///
/// The end of each step's output is always kept; the other files may take up to `limit`. For a piece beyond the
/// limit, the oldest output is cut that belongs to a succeeded step and is read by no other step. If there is none,
/// only the end of the new output is kept from then on.
struct OutputRoom {
    private let limit: Int
    /// True if what is kept of a file is on the disk before the rest goes.
    private let isDurable: Bool
    /// The size of the files, in bytes.
    private var used = 0
    /// Files that may be cut, oldest first.
    private var spare: [(step: String, file: KeptOutput.File)] = []
    private var firstSpare = 0
    /// True once output was not kept.
    private(set) var isExceeded = false

    init(limit: Int, isDurable: Bool) {
        self.limit = limit
        self.isDurable = isDurable
    }

    /// Makes room for `count` bytes and returns true; false if there is not enough. Calls `goes` with the step of
    /// each file that is cut.
    mutating func take(_ count: Int, in folder: Int32, goes: (String) -> Void) -> Bool {
        while used + count > limit {
            isExceeded = true
            guard firstSpare < spare.count else { return false }
            let (step, file) = spare[firstSpare]
            firstSpare += 1
            if firstSpare > 64, firstSpare > spare.count / 2 {
                spare.removeFirst(firstSpare)
                firstSpare = 0
            }
            // A file that cannot be cut stays.
            let freed = (try? OutputFile.cut(file.name, before: file.end, in: folder, isDurable: isDurable)) ?? 0
            if freed > 0 { goes(step) }
            used -= freed
        }
        used += count
        return true
    }

    /// Allows cutting these files, because no step needs them any more.
    mutating func mayGo(_ files: [KeptOutput.File], of step: String) {
        for file in files where file.end > 0 { spare.append((step, file)) }
    }
}

/// Consecutive output events whose bytes are not kept; one record represents them all.
struct DroppedOutput {
    private let first: RunEvent
    /// The output of the first event, without its bytes.
    private let output: StepOutput
    private var count = 1
    private var size: Int

    /// The most events in one record. A reader makes that many events of the record and ignores a larger number.
    static let limit = 1 << 20

    init(_ event: RunEvent, _ output: StepOutput) {
        var (first, lent) = (event, output)
        lent.bytes = .nothing
        first.kind = .stepOutput(lent)
        (self.first, self.output) = (first, lent)
        size = output.bytes.count
    }

    /// Returns true if the event is of the same kind and now counted; otherwise changes nothing.
    mutating func add(_ event: RunEvent, _ output: StepOutput) -> Bool {
        guard count < Self.limit, output.writer == self.output.writer, output.attempt == self.output.attempt,
            output.stream == self.output.stream, output.isPartial == self.output.isPartial,
            event.round == first.round
        else { return false }
        count += 1
        size += output.bytes.count
        return true
    }

    func write(to json: inout JSONWriter) {
        json.fields(of: first, isJournal: true) { json in
            json.field("dropped", size)
            json.field("events", count)
        }
    }
}
