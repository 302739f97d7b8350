package import Basics
internal import Glibc

/// Writes a run's journal: a header, then one record for every event. It must be the first reporter, so that the
/// journal has whatever another reporter shows.
///
/// Records are buffered until `flush`, which is called before flowrun waits for anything, and before a step starts
/// that follows others; the first time the first steps already run. After a failed write nothing more is written, and
/// the file ends with its last whole record.
package final class JournalWriter: Reporter, OutputPlaces {
    package static let fileName = "journal.jsonl"
    /// The most bytes that may wait for `flush`.
    private static let bufferLimit = 256 << 10
    /// The default of `outputLimit`, in bytes.
    package static let standardOutputLimit = 128 << 20

    /// The error that made the journal incomplete; nil while it is complete.
    package private(set) var failure: SystemError?
    /// The size of the output written to files beside the journal, in bytes.
    package private(set) var outputSize = 0
    package private(set) var lastPlace: OutputPlace?
    private let folder: Int32
    private let path: String?
    private let descriptor: Int32
    private let isDurable: Bool
    /// The most bytes of the journal that records of output in files may take.
    private let recordLimit: Int
    private var recordSize = 0
    private var room: OutputRoom
    private var json = JSONWriter(capacity: 16 * 1024)
    /// The record of the last event as the log has it; nil until a log asks for it.
    private var whole: WholeRecord?
    /// The latest output events whose bytes are not kept; one record will represent them all.
    private var dropped: DroppedOutput?
    private var size = 0
    /// True while the buffer has the start of a hook that may undo something.
    private var hasUndoing = false
    /// By writer, for running attempts that have written something.
    private var outputs: [StepOutput.Writer: KeptOutput] = [:]
    /// True if files were made since the last `fsync` of the folder.
    private var hasNewFiles = false
    /// Names of files by step, for attempts that have ended.
    private var files: [String: String] = [:]

    /// Makes the journal in the folder of its run, which must stay open until `close`, and marks the run as live.
    /// With `isDurable`, everything that a step depends on is on the disk before the step starts. `outputLimit` is
    /// the number of bytes of output kept in files, besides the end of each step's output.
    package init(
        in folder: Int32, _ header: JournalHeader, isDurable: Bool = false, outputLimit: Int = standardOutputLimit
    ) throws(SystemError) {
        self.folder = folder
        room = OutputRoom(limit: outputLimit, isDurable: isDurable)
        recordLimit = max(outputLimit, 1 << 20)
        path = header.folder
        self.isDurable = isDurable
        descriptor = try Self.makeFile(in: folder)
        JournalHold.take(descriptor)
        JournalLine.append(to: &json) { $0.fields(of: header, isJournal: true) }
        // Written twice: without the header nothing else about the run would be known, not even that it existed.
        json.repeatAll()
        guard isDurable else { return }
        flush()
        if fsync(folder) != 0 { throw .last }
        if let failure { throw failure }
    }

    deinit { close(descriptor) }

    /// Accepts an existing journal that is empty, as an earlier run's folder may have one.
    private static func makeFile(in folder: Int32) throws(SystemError) -> Int32 {
        let file = openat(folder, fileName, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0, status.st_nlink == 1 {
            JournalGap.clear(file, status)
            return file
        }
        close(file)
        throw SystemError(EEXIST)
    }

    package func report(_ event: RunEvent) {
        lastPlace = nil
        whole?.sequence = nil
        guard failure == nil else {
            if event.kind.undoesSomething { JournalGap.mark(descriptor) }
            return
        }
        switch event.kind {
        case .stepOutput(let output): return report(output, event)
        case .stepUndoes:
            hasUndoing = hasUndoing || event.kind.undoesSomething
            append(event)
        // Most have nothing to keep, and binding what is in the event would copy it.
        case .stepFinished where outputs.isEmpty && files.isEmpty && !isDurable: append(event)
        case .stepFinished(let step):
            let output = outputs.isEmpty ? nil : outputs.removeValue(forKey: .step(step.step))
            files[step.step] = output?.wholeFile
            if let output { end(output) }
            if let output, step.outcome == .success, !output.isRead { room.mayGo(output.files, of: step.step) }
            append(event)
            guard isDurable, step.duration != nil else { break }
            if let output { attempt { () throws(SystemError) in try sync(output) } }
            flush()
            sync()
            return
        case .valueFinished(let value):
            if let output = outputs.removeValue(forKey: .value(value.value)) { end(output) }
            append(event)
        case .runStarted where isDurable, .runFinished:
            append(event)
            flush()
            if isDurable { sync() }
            return
        default: append(event)
        }
        if json.count > Self.bufferLimit { flush() }
    }

    /// True once output was not kept because of the limit.
    package var isOverLimit: Bool { room.isExceeded }

    /// Returns the place for the record of each event as the log has it, which is written there from now on.
    func wholeRecord() -> WholeRecord {
        let record = whole ?? WholeRecord()
        whole = record
        return record
    }

    package func file(ofStep step: String) -> String? {
        files[step].flatMap { name in path.map { "\($0)/\(name)" } }
    }

    /// Writes the buffered records. With `isGoingOn`, writes only what a reader would miss if the run were killed:
    /// further dropped output may still be added to its record.
    package func flush(isGoingOn: Bool = false) {
        if !isGoingOn { appendDropped() }
        guard json.count > 0, failure == nil else { return }
        json.withUnsafeBytes { bytes in attempt { () throws(SystemError) in try write(bytes) } }
        json.removeAll()
        hasUndoing = false
    }

    // MARK: Records

    private func append(_ event: RunEvent) {
        appendDropped()
        write(event, output: nil)
    }

    private func write(_ event: RunEvent, output: ((inout JSONWriter) -> Void)?) {
        JournalLine.append(to: &json) { $0.fields(of: event, isJournal: true, whole: whole, output: output) }
    }

    private func appendDropped() {
        // Nearly always nil, and to take it out copies it.
        guard dropped != nil, let dropped = dropped.take() else { return }
        JournalLine.append(to: &json, dropped.write)
    }

    private func note(dropped output: StepOutput, _ event: RunEvent) {
        if dropped?.add(event, output) == true { return }
        appendDropped()
        dropped = DroppedOutput(event, output)
    }

    private func report(_ output: StepOutput, _ event: RunEvent) {
        // Removed from the dictionary, so that changing its content does not copy it.
        var kept = outputs.removeValue(forKey: output.writer) ?? KeptOutput(attempt: output.attempt)
        if kept.attempt != output.attempt {
            end(kept)
            kept = KeptOutput(attempt: output.attempt, after: kept)
        }
        if output.stream == .stdout { kept.noteReader() }
        let hadFile = kept.hasFile
        var place: KeptOutput.Place?
        let isInline = kept.isInline(output.bytes.count)
        if !isInline, recordSize > recordLimit {
            kept.giveUp()
            outputs[output.writer] = kept
            return note(dropped: output, event)
        }
        let hasRoom =
            kept.growth(by: output.bytes.count)
            .map { count in
                room.take(count, in: folder) { step in
                    files[step] = nil
                    hasNewFiles = true
                }
            } ?? false
        attempt { () throws(SystemError) in
            place = try kept.keep(output.bytes, of: output.writer.words, event.sequence, in: folder, hasRoom: hasRoom)
        }
        if kept.hasFile, !hadFile || place?.isPassing == true { hasNewFiles = true }
        outputs[output.writer] = kept
        guard failure == nil else { return }
        appendDropped()
        let start = json.count
        if let place { lastPlace = place.isPassing ? nil : OutputPlace(file: place.file, offset: place.offset) }
        write(event) { $0.bytes(output.bytes, at: place) }
        if place != nil {
            outputSize += output.bytes.count
            recordSize += json.count - start
        }
        if json.count > Self.bufferLimit { flush() }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
        var offset = 0
        while offset < bytes.count {
            let count = Glibc.write(descriptor, bytes.baseAddress! + offset, bytes.count - offset)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = count < 0 ? SystemError.last : SystemError(ENOSPC)
                cut(bytes, at: offset)
                throw error
            }
            offset += count
        }
        size += bytes.count
    }

    /// Removes the beginning of a record from the end of the file.
    private func cut(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let whole = bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < offset { ftruncate(descriptor, off_t(size + whole)) }
    }

    private func end(_ output: KeptOutput) {
        if output.isCut { attempt { () throws(SystemError) in try output.end() } }
    }

    /// Syncs the data of the step's files, and the folder if it has new files.
    private func sync(_ output: KeptOutput) throws(SystemError) {
        try output.sync()
        guard hasNewFiles else { return }
        if fsync(folder) != 0 { throw .last }
        hasNewFiles = false
    }

    private func sync() { attempt { () throws(SystemError) in if fdatasync(descriptor) != 0 { throw .last } } }

    private func attempt(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) {
            try body()
        } catch {
            failure = failure ?? error
            if hasUndoing { JournalGap.mark(descriptor) }
        }
    }
}

extension RunEvent.Kind {
    /// True for the start of a hook, unless the hook says that it undoes nothing.
    fileprivate var undoesSomething: Bool {
        if case .stepUndoes(_, let undoing) = self { undoing.members != [] } else { false }
    }
}

extension JSONWriter {
    /// Writes the output of a step: its place if it is in a file, otherwise the bytes themselves.
    fileprivate mutating func bytes(_ bytes: UnsafeRawBufferPointer, at place: KeptOutput.Place?) {
        if let place {
            field("file", place.name)
            field("offset", place.offset)
            field("count", bytes.count)
            field("sum", digitsOf: CRC32C.of(bytes))
        } else if String(validating: bytes, as: UTF8.self) != nil {
            field("text", repairing: bytes)
        } else {
            field("base64", Base64.text(of: bytes))
        }
    }
}

/// Marks a journal that could not be written any more when a hook started: what the hook has undone is unknown. The
/// mark is a bit of the file's mode, for which a full disk has room.
enum JournalGap {
    private static let mode: mode_t = 0o600
    private static let bit = S_ISVTX

    static func mark(_ journal: Int32) { fchmod(journal, mode | bit) }

    static func isMarked(_ journal: Int32) -> Bool {
        var status = stat()
        return fstat(journal, &status) == 0 && status.st_mode & bit != 0
    }

    /// Takes the mark from the file of an earlier run, which another one is to use.
    static func clear(_ journal: Int32, _ status: stat) { if status.st_mode & bit != 0 { fchmod(journal, mode) } }
}

/// Marks a run as live: a lock on its journal, which is only tested and never waited for.
enum JournalHold {
    /// `F_OFD_GETLK` and `F_OFD_SETLK` of fcntl(2), which Swift does not import.
    private static let getCommand: Int32 = 36
    private static let setCommand: Int32 = 37

    private static var wholeFile: flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        return lock
    }

    /// Takes the lock for the rest of the process. Has no effect on a file system without such locks.
    static func take(_ journal: Int32) {
        var lock = wholeFile
        _ = fcntl(journal, setCommand, &lock)
    }

    /// True if another process holds the lock, that is, writes the journal.
    static func isTaken(_ journal: Int32) -> Bool {
        var lock = wholeFile
        return fcntl(journal, getCommand, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    }
}
