package import Basics
internal import Glibc

/// Reads a run's journal from its start, record by record, up to the first that is not whole. Changes nothing.
///
/// Returns nothing after a changed record. The records before it are then not all that happened: a step may have been
/// undone since. Code that acts on a journal must check `damage` first.
package final class JournalReader: OutputPlaces {
    package let header: JournalHeader
    /// True once the run's last event has been read.
    package private(set) var isFinished = false
    /// The size of the steps' output that cannot be read, in bytes, for the events read so far: it was too long to
    /// keep, or its file is gone.
    package private(set) var missingOutput = 0
    /// The number of bytes that do not match their checksum; they count as missing.
    package private(set) var changedOutput = 0
    /// The steps whose output is missing, in the order of the first loss, each with the number of missing bytes.
    package private(set) var stepsWithMissingOutput: [(step: String, size: Int)] = []
    private var missingIndices: [String: Int] = [:]
    private var ownDamage: JournalDamage?
    package private(set) var lastPlace: OutputPlace?
    /// The output of the last event, to be read again later; nil if it is in the journal itself.
    package private(set) var lastPiece: OutputPiece?
    /// The reason why the output of the last event is incomplete; nil if it is complete, and for all other events.
    package private(set) var lastLoss: OutputLoss?
    private let folder: Int32
    private let descriptor: Int32
    private var lines: JournalLines
    private var nextSequence = 0
    /// A record that represents several events, and how many of them are not yet delivered.
    private var repeated: (record: JSONObject, rest: Int)?
    /// The output files of running steps.
    private var files: [String: OutputFile] = [:]
    /// The files with the output of running attempts.
    private var places: [StepOutput.Writer: Place] = [:]
    /// By finished step: the name of the file with the whole output of its last attempt.
    private var wholeFiles: [String: String] = [:]

    /// The most bytes that one record can miss; flowrun writes no record with more.
    private static let mostMissing = 1 << 44
    /// The most output of one record, in bytes.
    private static let largestPiece = 64 << 20

    private struct Place {
        let attempt: Int
        var file: String?
        var isWhole = true
    }

    /// Opens the journal in the folder of its run; the folder must stay open. Returns nil if there is no journal, or
    /// it does not begin with a header. Throws if its beginning cannot be read.
    package init?(in folder: Int32) throws(SystemError) {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return nil }
        var lines = JournalLines(file)
        guard let header = lines.next().flatMap({ JournalHeader($0) }) else {
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

    /// True for the journal of a run that was killed before it had written the header.
    package static func isCutShort(in folder: Int32) -> Bool {
        let file = JournalLines.open(in: folder)
        guard file >= 0 else { return false }
        defer { close(file) }
        var lines = JournalLines(file)
        return lines.next() == nil && lines.damage == nil && lines.skipped == nil
    }

    /// True if the run is alive.
    package var isLive: Bool { JournalHold.isTaken(descriptor) }

    /// The error that ended reading; nil if there was none, and for a torn end.
    package var failure: SystemError? { lines.failure }

    /// The place at which the journal was changed after its run wrote it; nil if the part read so far is unchanged,
    /// and for a torn end.
    package var damage: JournalDamage? { ownDamage ?? lines.damage }

    /// True if a hook has started that the journal does not have, because it could not be written any more.
    package var lacksHooks: Bool { JournalGap.isMarked(descriptor) }

    /// The size of the records read so far, in bytes; once the last event has been read, the rest of the file is
    /// torn.
    package var validSize: Int { lines.size }

    /// Passes the next event to `take` and returns true; false if there is none. Borrowed bytes of the event are
    /// valid only during the call.
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
            // Of the events of one record, the first has all bytes.
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

    /// Returns the record of the next event, and the index of the event among those that the record represents.
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
            // A live run writes over the end of an output that it cannot keep, under another name.
            files[name] = nil
            guard OutputFile.existing(name, in: folder) != nil else { return noteMissing(record, output) }
            changedOutput += bytes.count
            missingOutput += bytes.count
            lastPlace = nil
            lastLoss = .changed
            places[output.writer]?.isWhole = false
            return []
        }
        return noteMissing(record, output)
    }

    private func noteMissing(_ record: JSONObject, _ output: StepOutput) -> [UInt8] {
        lastPlace = nil
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
    /// The checksum; nil if written by a version without checksums.
    let sum: String?

    fileprivate func matches(_ bytes: [UInt8]) -> Bool { sum.map { $0 == CRC32C.digits(of: bytes) } ?? true }

    /// Reads the piece from the folder of its run; nil if it has changed or is gone.
    package func bytes(in folder: Int32) -> [UInt8]? {
        let bytes = OutputFile.existing(name, in: folder)?.bytes(from: offset, count: count)
        return bytes.flatMap { matches($0) ? $0 : nil }
    }
}

/// The reason why bytes of an output cannot be read.
package enum OutputLoss: Sendable {
    /// They were not kept, or their file is gone.
    case missing
    /// They do not match their checksum.
    case changed
}

/// The place at which a journal was changed after its run wrote it; a torn end is no damage.
package struct JournalDamage: Sendable, Hashable {
    /// The start of the line, in bytes from the start of the file.
    package let offset: Int
    /// The number of the line, from 1.
    package let line: Int
}
