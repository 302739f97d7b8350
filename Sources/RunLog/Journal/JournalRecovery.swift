package import Basics
internal import Glibc

/// Cuts a dead run's journal back to its last whole record, so that what was torn is read by nobody again.
package enum JournalRecovery {
    private static let tornName = "journal.jsonl.torn"
    /// How much is put aside: what no run has written may be as long as a file can be.
    private static let limit = 64 << 20

    /// Puts what follows the last whole record aside into `journal.jsonl.torn`, and takes it off the journal. Does
    /// nothing for a journal that is whole, that was changed in another way, or that a live run writes. Returns how many bytes were taken off.
    @discardableResult
    package static func recover(in folder: Int32) throws(SystemError) -> Int {
        let file = openat(folder, JournalWriter.fileName, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw .last }
        defer { close(file) }
        guard !JournalHold.isTaken(file) else { return 0 }
        var lines = JournalLines(file)
        while lines.next() != nil {}
        // What cannot be read is not torn.
        if let failure = lines.failure { throw failure }
        guard lines.damage == nil else { return 0 }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > lines.size else { return 0 }
        let torn = openat(folder, tornName, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard torn >= 0 else { throw .last }
        defer { close(torn) }
        var offset = off_t(lines.size)
        let end = min(size, lines.size + limit)
        while Int(offset) < end {
            let chunk = [UInt8](unsafeUninitializedCapacity: min(end - Int(offset), 1 << 20)) { buffer, filled in
                filled = max(pread(file, buffer.baseAddress, buffer.count, offset), 0)
            }
            guard !chunk.isEmpty else { throw .last }
            try WholeFile.write(chunk, to: torn)
            offset += off_t(chunk.count)
        }
        guard ftruncate(file, off_t(lines.size)) == 0 else { throw .last }
        return size - lines.size
    }
}
