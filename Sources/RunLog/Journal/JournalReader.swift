package import Basics
internal import Glibc

/// Reads a run's journal from its start, record by record, up to the first that is not whole. Changes nothing.
///
/// Nothing after a changed record is handed out, and the records before it are not all that happened: a step may have
/// been undone since. Code that acts on a journal looks at `damage` first.
package final class JournalReader: OutputPlaces {
    package let header: JournalHeader
    /// Whether the run's last event has been read.
    package private(set) var isFinished = false
    /// How much of the steps' output is not there, in bytes, as far as events have been read: it was too long to keep,
    /// or its file is gone.
    package private(set) var missingOutput = 0
    /// How many bytes are there and do not match their checksum; they count as missing.
    package private(set) var changedOutput = 0
    /// The steps whose output is missing, in the order in which it begins, each with how much.
    package private(set) var stepsWithMissingOutput: [(step: String, size: Int)] = []
    private var missingIndices: [String: Int] = [:]
    private var ownDamage: JournalDamage?
    package private(set) var lastPlace: OutputPlace?
    /// The output of the event that came last, to be read again later; nil if it is in the journal itself.
    package private(set) var lastPiece: OutputPiece?
    /// Why the output of the event that came last is not all there; nil where it is, and for all other events.
    package private(set) var lastLoss: OutputLoss?
    private let folder: Int32
    private let descriptor: Int32
    private var lines: JournalLines
    private var nextSequence = 0
    /// A record that stands for more events than have been handed out, and for how many.
    private var repeated: (record: JSONObject, rest: Int)?
    /// The files of steps that run.
    private var files: [String: OutputFile] = [:]
    /// Where the output of running attempts is.
    private var places: [StepOutput.Writer: Place] = [:]
    /// By step that has ended: names of files with all that its last attempt wrote.
    private var wholeFiles: [String: String] = [:]

    /// What one record can miss, in bytes; one that says more was not written by flowrun.
    private static let mostMissing = 1 << 44
    /// The most output that one record stands for, in bytes.
    private static let largestPiece = 64 << 20

    private struct Place {
        let attempt: Int
        var file: String?
        var isWhole = true
    }

    /// Opens the journal in the folder of its run, which has to stay open. Nil if there is none, or it does not begin as
    /// one. Throws where its beginning cannot be read.
    package init?(in folder: Int32) throws(SystemError) {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var lines = JournalLines(file)
        guard let header = lines.next().flatMap(JournalHeader.init) else {
            close(file)
            if let failure = lines.failure { throw failure }
            return nil
        }
        self.folder = folder
        self.header = header
        self.lines = lines
        descriptor = file
    }

    deinit { close(descriptor) }

    /// True for the journal of a run that was killed before it had written its beginning.
    package static func isCutShort(in folder: Int32) -> Bool {
        let file = openat(folder, JournalWriter.fileName, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lines = JournalLines(file)
        return lines.next() == nil && lines.damage == nil && lines.skipped == nil
    }

    /// Whether the run is alive.
    package var isLive: Bool { JournalHold.isTaken(descriptor) }

    /// Why the journal could not be read any further; nil where it could, and where it is torn.
    package var failure: SystemError? { lines.failure }

    /// Where the journal was changed after its run wrote it; nil as far as it has been read, and for an end that is
    /// torn.
    package var damage: JournalDamage? { ownDamage ?? lines.damage }

    /// How many bytes the records that were read take; what follows them is torn, once the last event has been read.
    package var validSize: Int { lines.size }

    /// Hands out the next event and returns true; false once there is none. What it lends is valid during the call.
    package func next(_ take: (RunEvent) -> Void) -> Bool {
        guard !isFinished, damage == nil, let (record, number) = nextRecord() else { return false }
        lastPlace = nil
        lastPiece = nil
        lastLoss = nil
        guard var event = RunEvent(record), event.sequence + number == nextSequence else {
            ownDamage = nextSequence == 0 ? lines.skipped ?? lines.place : lines.place
            return false
        }
        event.sequence = nextSequence
        nextSequence += 1
        switch event.kind {
        case .stepOutput(var output):
            // Of those that one record stands for, the first has all.
            let bytes = number == 0 ? self.bytes(of: output, record) : []
            bytes.withUnsafeBytes { bytes in
                output.bytes = bytes
                event.kind = .stepOutput(output)
                take(event)
            }
            return true
        case .runFinished: isFinished = true
        case .stepFinished(let step):
            files.removeAll()
            let place = places.removeValue(forKey: .step(step.step))
            wholeFiles[step.step] = place.flatMap { $0.isWhole ? $0.file : nil }
        case .valueFinished(let value): places[.value(value.value)] = nil
        default: break
        }
        take(event)
        return true
    }

    package func file(ofStep step: String) -> String? {
        wholeFiles[step].flatMap { name in header.folder.map { "\($0)/\(name)" } }
    }

    /// The record of the next event, and which of the events that it stands for that is.
    private func nextRecord() -> (JSONObject, number: Int)? {
        if let (record, rest) = repeated.take(), let count = record.int("events") {
            if rest > 1 { repeated = (record, rest - 1) }
            return (record, count - rest)
        }
        guard var record = lines.next() else { return nil }
        if nextSequence == 0, record.string("event") == JournalHeader.event {
            guard let next = lines.next() else { return nil }
            record = next
        }
        if let count = record.int("events"), record.int("dropped") != nil, (2...DroppedOutput.limit).contains(count) {
            repeated = (record, count - 1)
        }
        return (record, 0)
    }

    private func notePlace(of output: StepOutput, _ record: JSONObject) {
        var place = places[output.writer] ?? Place(attempt: output.attempt)
        if place.attempt != output.attempt { place = Place(attempt: output.attempt) }
        let file = record.string("file") ?? place.file
        if record.int("dropped") != nil || place.file != nil && file != place.file { place.isWhole = false }
        place.file = file
        places[output.writer] = place
    }

    private func bytes(of output: StepOutput, _ record: JSONObject) -> [UInt8] {
        notePlace(of: output, record)
        if let text = record.string("text") { return Array(text.utf8) }
        if let text = record.string("base64") { return Base64.bytes(of: text) ?? [] }
        if let name = record.string("file"), let offset = record.int("offset"), let count = record.int("count"),
            let bytes = contents(of: name, from: offset, count: count)
        {
            let piece = OutputPiece(name: name, offset: offset, count: count, sum: record.string("sum"))
            if piece.matches(bytes) {
                lastPiece = piece
                return bytes
            }
            changedOutput += bytes.count
            missingOutput += bytes.count
            lastPlace = nil
            lastLoss = .changed
            places[output.writer]?.isWhole = false
            return []
        }
        lastLoss = .missing
        places[output.writer]?.isWhole = false
        noteMissing(record.int("dropped") ?? record.int("count") ?? 0, of: output.writer.words)
        return []
    }

    private func noteMissing(_ size: Int, of step: String) {
        guard (1...Self.mostMissing).contains(size) else { return }
        missingOutput += size
        if let index = missingIndices[step] {
            stepsWithMissingOutput[index].size += size
        } else {
            missingIndices[step] = stepsWithMissingOutput.count
            stepsWithMissingOutput.append((step, size))
        }
    }

    private func contents(of name: String, from offset: Int, count: Int) -> [UInt8]? {
        guard offset >= 0, (0...Self.largestPiece).contains(count) else { return nil }
        guard let file = files[name] ?? OutputFile.existing(name, in: folder) else { return nil }
        files[name] = file
        guard let bytes = file.bytes(from: offset, count: count) else { return nil }
        lastPlace = OutputPlace(file: file, offset: offset)
        return bytes
    }
}

/// A piece of output in a file beside the journal.
package struct OutputPiece: Sendable {
    let name: String
    let offset: Int
    let count: Int
    /// nil from a version that wrote none.
    let sum: String?

    fileprivate func matches(_ bytes: [UInt8]) -> Bool { sum.map { $0 == CRC32C.digits(of: bytes) } ?? true }

    /// Reads it from the folder of its run; nil if it has changed or is gone.
    package func bytes(in folder: Int32) -> [UInt8]? {
        let bytes = OutputFile.existing(name, in: folder)?.bytes(from: offset, count: count)
        return bytes.flatMap { matches($0) ? $0 : nil }
    }
}

/// Why bytes of an output cannot be read.
package enum OutputLoss: Sendable {
    /// They were not kept, or their file is gone.
    case missing
    /// They do not match their checksum.
    case changed
}

/// The place at which a journal has changed since its run wrote it; a torn end is no damage.
package struct JournalDamage: Sendable, Hashable {
    /// From the start of the file to that of the line, in bytes.
    package let offset: Int
    /// The number of the line, from 1.
    package let line: Int
}
