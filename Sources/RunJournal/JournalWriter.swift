package import Basics
internal import Glibc
package import RunEvents

/// Writes a run's journal: every event as one record, behind a header. It is to be the first of the reporters, so that
/// what another one shows is in the journal.
///
/// Records wait in memory until `flush`, which is called before flowrun waits for anything. The end of a step that had a
/// process is written at once: nothing that depends on it may have begun before. After a failed write nothing more is
/// written, and the file ends behind its last whole record.
package final class JournalWriter: Reporter, OutputPlaces {
    package static let fileName = "journal.jsonl"
    /// How much may wait for `flush`.
    private static let bufferLimit = 256 << 10

    /// Why the journal is incomplete; nil as long as it is not.
    package private(set) var failure: SystemError?
    /// What has been written to files beside the journal, in bytes.
    package private(set) var outputSize = 0
    package private(set) var lastPlace: OutputPlace?
    private let folder: Int32
    private let path: String?
    private let descriptor: Int32
    private let isDurable: Bool
    private var json = JSONWriter(capacity: 16 * 1024)
    /// What has come last and is not kept.
    private var dropped: DroppedOutput?
    private var size = 0
    /// Of running attempts that have written something.
    private var outputs: [StepOutput.Writer: KeptOutput] = [:]
    /// Whether files were made since the folder was last written through to the disk.
    private var hasNewFiles = false
    /// By step, of attempts that have ended: names of files.
    private var files: [String: String] = [:]

    /// Makes the journal in the folder of its run, which is open until `close`, and holds it as that of a live run.
    /// `isDurable`: what a step depends on is on the disk before the step starts.
    package init(in folder: Int32, _ header: JournalHeader, isDurable: Bool = false) throws(SystemError) {
        self.folder = folder
        path = header.folder
        self.isDurable = isDurable
        descriptor = try Self.makeFile(in: folder)
        JournalHold.take(descriptor)
        JournalLine.append(to: &json, header.write)
        // Twice, since without it nothing else is known of the run, and not even that there was one.
        json.repeatAll()
        flush()
        if isDurable, fsync(folder) != 0 { throw .last }
        if let failure { throw failure }
    }

    deinit { close(descriptor) }

    /// An empty one that is there already, as in the folder of an earlier run, will do.
    private static func makeFile(in folder: Int32) throws(SystemError) -> Int32 {
        let file = openat(folder, fileName, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .last }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size == 0, status.st_nlink == 1 {
            return file
        }
        close(file)
        throw SystemError(EEXIST)
    }

    package func report(_ event: RunEvent) {
        lastPlace = nil
        guard failure == nil else { return }
        switch event.kind {
        case .stepOutput(let output): return report(output, event)
        case .stepFinished(let step):
            let output = outputs.isEmpty ? nil : outputs.removeValue(forKey: .step(step.step))
            files[step.step] = output?.wholeFile
            append(event)
            guard step.duration != nil else { break }
            if isDurable, let output { attempt { () throws(SystemError) in try sync(output) } }
            flush()
            if isDurable { sync() }
            return
        case .valueFinished(let value):
            outputs[.value(value.value)] = nil
            append(event)
        case .runStarted, .runFinished:
            append(event)
            flush()
            if isDurable { sync() }
            return
        default: append(event)
        }
        if json.count > Self.bufferLimit { flush() }
    }

    package func file(ofStep step: String) -> String? {
        files[step].flatMap { name in path.map { "\($0)/\(name)" } }
    }

    /// Writes what waits. `isGoingOn`: only what a reader would miss if the run were killed; how much is not kept may
    /// still be counted together.
    package func flush(isGoingOn: Bool = false) {
        if !isGoingOn { appendDropped() }
        guard json.count > 0, failure == nil else { return }
        json.withUnsafeBytes { bytes in attempt { () throws(SystemError) in try write(bytes) } }
        json.removeAll()
    }

    // MARK: Records

    private func append(_ event: RunEvent) {
        appendDropped()
        JournalLine.append(to: &json) { json in
            json.fields(of: event)
            json.rest(of: event.kind)
        }
    }

    private func appendDropped() {
        if let dropped = dropped.take() { JournalLine.append(to: &json, dropped.write) }
    }

    private func note(dropped output: StepOutput, _ event: RunEvent) {
        if dropped?.add(event, output) == true { return }
        appendDropped()
        dropped = DroppedOutput(event, output)
    }

    private func report(_ output: StepOutput, _ event: RunEvent) {
        // Taken out, so that what it holds is not copied with each piece.
        var kept = outputs.removeValue(forKey: output.writer) ?? KeptOutput(attempt: output.attempt)
        if kept.attempt != output.attempt { kept = KeptOutput(attempt: output.attempt) }
        let hadFile = kept.hasFile
        var way = KeptOutput.Way.dropped
        attempt { () throws(SystemError) in
            way = try kept.keep(output.bytes, of: output.writer.words, event.sequence, in: folder)
        }
        if kept.hasFile, !hadFile { hasNewFiles = true }
        outputs[output.writer] = kept
        guard failure == nil else { return }
        if case .dropped = way { return note(dropped: output, event) }
        appendDropped()
        JournalLine.append(to: &json) { json in
            json.head(of: event)
            json.writer(of: output)
            json.field("stream", output.stream.rawValue)
            switch way {
            case .inline:
                if String(validating: output.bytes, as: UTF8.self) != nil {
                    json.field("text", repairing: output.bytes)
                } else {
                    json.field("base64", Base64.text(of: output.bytes))
                }
            case .inFile(let file, let name, let offset):
                lastPlace = OutputPlace(file: file, offset: offset)
                json.field("file", name)
                json.field("offset", offset)
                json.field("count", output.bytes.count)
                json.field("sum", CRC32C.digits(CRC32C.of(output.bytes)))
            case .dropped: break
            }
            json.field("partial", output.isPartial)
        }
        if case .inFile = way { outputSize += output.bytes.count }
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

    /// Takes the beginning of a record away again that stands at the end of the file.
    private func cut(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        let whole = bytes[..<offset].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < offset { ftruncate(descriptor, off_t(size + whole)) }
    }

    /// The data of the step's file, and the names of all that are new.
    private func sync(_ output: KeptOutput) throws(SystemError) {
        try output.sync()
        guard hasNewFiles else { return }
        if fsync(folder) != 0 { throw .last }
        hasNewFiles = false
    }

    private func sync() { attempt { () throws(SystemError) in if fdatasync(descriptor) != 0 { throw .last } } }

    private func attempt(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch { failure = failure ?? error }
    }
}
