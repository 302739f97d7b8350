internal import Basics
internal import Glibc

/// Prevents a second run of the same workflow file. The kernel releases it with the process, however that ends, so
/// there is never a stale lock to remove.
final class RunLock: Sendable {
    /// The run that has the lock.
    struct Holder: Sendable, Hashable {
        let pid: Int32
        let run: String
        /// The part that the marks of the run's processes share; nil if they have none.
        var mark: UInt64?
        /// True once the run has ended and nothing of it is left except what it has reported as lost.
        var hasEnded = false
        /// True for a run with a journal, unless it has ended by itself.
        var keepsJournal: Bool

        init(pid: Int32, run: String, mark: UInt64? = nil, keepsJournal: Bool = false) {
            self.pid = pid
            self.run = run
            self.mark = mark
            self.keepsJournal = keepsJournal
        }
    }

    /// The last run that had the lock; nil if there was none.
    let previous: Holder?
    private let descriptor: Int32

    /// The size of the line in the file: `PID RUN MARK CHECKSUM`, with the word of the run's state, if any, before
    /// the checksum. Padded with spaces, so that a shorter line covers a longer one. The last run with a temporary
    /// folder follows, with the path of that folder.
    private static let headSize = 64
    private static var markDigits: Int { 10 }

    /// Takes the lock of the workflow with this name, at once or, if the holder in the file is dead, within two
    /// seconds; throws if it is held. The file names the previous holder until `enter`, so that if this start is
    /// killed before, the next one still finds the leftovers.
    init(of name: String, in directory: StateDirectory) throws(RunLockError) {
        let file = openat(
            directory.descriptor, Self.fileName(name), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .unusable(errno: errno) }
        descriptor = file
        let error = FileLock.wait(for: file) { Self.holder(in: file).map { !$0.isAlive } ?? false }
        previous = Self.holder(in: file)
        guard error == 0 else {
            // Reported only if alive: the holder may not have written its name yet.
            throw error == EWOULDBLOCK ? .held(by: previous.flatMap { $0.isAlive ? $0 : nil }) : .unusable(errno: error)
        }
    }

    /// Writes `holder` into the file. Returns false if that fails, as when no file may grow.
    @discardableResult
    func enter(_ holder: Holder) -> Bool { write(holder) }

    /// Marks the holder's run as ended with nothing left of it, so that the next start need not look for leftovers.
    func end(_ holder: Holder) {
        var ended = holder
        ended.hasEnded = true
        ended.keepsJournal = false
        write(ended)
    }

    /// Writes the previous holder into the file again, for a run that is rejected: a run that never began is not the
    /// last one. Leftovers of the previous run have been removed by then. The lock itself remains held.
    func disown() {
        if var previous {
            previous.hasEnded = true
            write(previous)
        } else {
            ftruncate(descriptor, 0)
        }
    }

    /// Records the path at which a run is about to make its temporary folder.
    func note(temporaryFolder path: String, of run: String) {
        let bytes = Array("\(run) \(path)\0".utf8)
        _ = pwrite(descriptor, bytes, bytes.count, off_t(Self.headSize))
    }

    /// Returns the temporary folder of a run; nil unless it was the last run to make one.
    func temporaryFolder(of run: String) -> String? {
        let bytes = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(Self.headSize)))
        }
        guard let end = bytes.firstIndex(of: 0) else { return nil }
        let text = String(decoding: bytes[..<end], as: UTF8.self)
        return text.hasPrefix("\(run) /") ? String(text.dropFirst(run.utf8.count + 1)) : nil
    }

    @discardableResult
    private func write(_ holder: Holder) -> Bool {
        var line = Array("\(holder.pid) \(holder.run) \((holder.mark ?? 0).hexadecimal(digits: Self.markDigits))".utf8)
        line += holder.state.description.utf8
        line.append(UInt8(ascii: " "))
        line += CRC32C.digits(of: line).utf8
        line += Array(repeating: UInt8(ascii: " "), count: max(0, Self.headSize - 1 - line.count))
        line.append(UInt8(ascii: "\n"))
        return pwrite(descriptor, line, line.count, 0) == line.count
    }

    deinit { close(descriptor) }

    /// Returns the run that has the lock of a workflow, or had it last; does not take the lock.
    static func holder(of name: String, in directory: StateDirectory) -> Holder? {
        let file = openat(directory.descriptor, fileName(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return holder(in: file)
    }

    /// Returns the names of all locks in a state directory, held or free, in no order.
    static func names(in directory: StateDirectory) -> [String] {
        directory.names().filter(isFileName).map { String($0.dropLast(ending.count)) }
    }

    /// Returns the time of the last change of a lock's file, which a run writes when it takes the lock; zero if there
    /// is none.
    static func lastChange(of name: String, in directory: StateDirectory) -> Duration {
        directory.lastChange(of: fileName(name))
    }

    private static var ending: String { ".lock" }

    static func isFileName(_ name: String) -> Bool { name.hasSuffix(ending) }

    private static func fileName(_ name: String) -> String { name + ending }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
    }

    /// Reads the text between the run and the checksum: a mark, and the word of a state. Returns false if it is
    /// anything else.
    private static func read(_ rest: UnsafeRawBufferPointer, into holder: inout Holder) -> Bool {
        if isBlank(rest[...]) { return true }
        guard rest.count > markDigits, rest[0] == UInt8(ascii: " ") else { return false }
        var mark: UInt64 = 0
        for byte in rest[1...markDigits] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): mark = mark << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): mark = mark << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return false
            }
        }
        holder.mark = mark == 0 ? nil : mark
        let state = rest[(markDigits + 1)...]
        let end = state.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? state.startIndex
        return holder.take(state: UnsafeRawBufferPointer(rebasing: state[..<end]))
    }

    private static func isBlank(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.allSatisfy { $0 == UInt8(ascii: " ") }
    }

    /// Returns the index of a line's last word if that is the checksum of everything before it.
    private static func startOfSum(in line: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let last = line.lastIndex(where: { $0 != UInt8(ascii: " ") }), last >= CRC32C.digitCount else {
            return nil
        }
        let start = last + 1 - CRC32C.digitCount
        let sum = CRC32C.of(UnsafeRawBufferPointer(rebasing: line[..<start]))
        return UInt64(sum).isHexadecimal(UnsafeRawBufferPointer(rebasing: line[start...last])) ? start : nil
    }

    private static func holder(in file: Int32) -> Holder? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 128) { buffer in
            let count = pread(file, buffer.baseAddress, buffer.count, 0)
            guard count > 0, let end = buffer.prefix(count).firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = UnsafeRawBufferPointer(buffer)[..<end]
            guard let space = line.firstIndex(of: UInt8(ascii: " ")), let pid = Int32(text(line[..<space])), pid > 0
            else { return nil }
            let run = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
            // Names of sockets are made of it, so nothing but an id may pass.
            guard RunID.isValid(text(run)) else { return nil }
            var holder = Holder(pid: pid, run: text(run))
            let rest = line[run.endIndex...]
            // Locks of older versions have neither mark nor checksum.
            if isBlank(rest) { return holder }
            guard let sum = startOfSum(in: line), sum > rest.startIndex else { return nil }
            return read(UnsafeRawBufferPointer(rebasing: rest[..<sum]), into: &holder) ? holder : nil
        }
    }
}

/// The reason why a run cannot have its lock.
enum RunLockError: Error, Sendable, Hashable {
    /// nil if the holder has not written its name yet.
    case held(by: RunLock.Holder?)
    case unusable(errno: Int32)
}

extension RunLock.Holder {
    /// The word for the state in the file.
    fileprivate var state: StaticString { Self.state(hasEnded, keepsJournal) }

    private static func state(_ hasEnded: Bool, _ keepsJournal: Bool) -> StaticString {
        switch (hasEnded, keepsJournal) {
        case (false, false): ""
        case (false, true): " journal"
        case (true, false): " ended"
        // The run was killed, and its leftovers have been removed.
        case (true, true): " swept"
        }
    }

    /// Returns false for a text that is no state.
    fileprivate mutating func take(state bytes: UnsafeRawBufferPointer) -> Bool {
        for (hasEnded, keepsJournal) in [(false, false), (false, true), (true, false), (true, true)] {
            let word = Self.state(hasEnded, keepsJournal)
            guard word.utf8CodeUnitCount == bytes.count,
                bytes.isEmpty || memcmp(bytes.baseAddress!, word.utf8Start, bytes.count) == 0
            else { continue }
            (self.hasEnded, self.keepsJournal) = (hasEnded, keepsJournal)
            return true
        }
        return false
    }

    /// True if a process with its number exists, which may be another one by now.
    var isAlive: Bool { kill(pid, 0) == 0 || errno == EPERM }
}

/// Prevents a second run of the same file, under any name and with any state directory: the lock belongs to the file
/// itself, so that hard links, symbolic links and state directories share it.
///
/// The kernel releases it with the process. A lock inherited from the caller counts as ours, so that `flock
/// flowrun.yml flowrun` works.
enum FileLock {
    /// A process that has the lock of a file.
    struct Holder {
        fileprivate let pid: Int32

        /// True if it runs this program, or is about to end: the kernel then no longer shows its program, and
        /// releases its locks only afterwards.
        var isFlowrun: Bool {
            var (own, other) = (stat(), stat())
            guard stat("/proc/self/exe", &own) == 0 else { return false }
            guard stat("/proc/\(pid)/exe", &other) == 0 else {
                // A flowrun with secrets is hidden from its own user; only its name is readable.
                return errno == ENOENT || errno == EACCES && Self.name(of: "\(pid)") == Self.name(of: "self")
            }
            return own.st_dev == other.st_dev && own.st_ino == other.st_ino
        }

        private static func name(of process: String) -> [UInt8]? {
            let file = open("/proc/\(process)/comm", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return nil }
            defer { close(file) }
            return try? WholeFile.read(file)
        }
    }

    /// Takes the lock for the rest of the process: at once, or as soon as it is released while `isEnding` returns
    /// true for its holder, which is nil if unknown. Does nothing unless the file is regular, because no other run
    /// can read the same pipe.
    static func take(of path: String, isEnding: (Holder?) -> Bool = { _ in false }) throws(RunLockError) {
        let file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            // A file that was removed since it was read needs no lock.
            if errno == ENOENT { return }
            throw .unusable(errno: errno)
        }
        var status = stat()
        let isRegular = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        guard isRegular, flock(file, LOCK_EX | LOCK_NB) != 0 else {
            if !isRegular { close(file) }
            return
        }
        let error = errno
        let isCallers = error == EWOULDBLOCK && callerHasLock(of: status)
        if error == EWOULDBLOCK, !isCallers, wait(for: file, while: { isEnding(holder(of: status)) }) == 0 {
            return
        }
        close(file)
        switch error {
        case EWOULDBLOCK: if !isCallers { throw .held(by: nil) }
        // Some network file systems lock only files that are open for writing. The lock in the state directory
        // remains.
        case EBADF: break
        default: throw .unusable(errno: error)
        }
    }

    /// Takes a lock, at once or while `isEnding` returns true, but waits at most two seconds: a run whose guard was
    /// killed ends its steps before it releases the lock. Returns 0, or the error number.
    static func wait(for file: Int32, while isEnding: () -> Bool) -> Int32 {
        for _ in 0..<400 {
            if flock(file, LOCK_EX | LOCK_NB) == 0 { return 0 }
            let error = errno
            guard error == EWOULDBLOCK, isEnding() else { return error }
            usleep(5000)
        }
        return EWOULDBLOCK
    }

    /// Finds the holder in the kernel's list of locks, by the inode of the file. The list has the device too, but on
    /// some file systems (btrfs, overlayfs) not as `stat` reports it. A file of another device with this inode may
    /// therefore match.
    private static func holder(of file: stat) -> Holder? {
        let locks = open("/proc/locks", O_RDONLY | O_CLOEXEC)
        guard locks >= 0 else { return nil }
        defer { close(locks) }
        guard let list = try? WholeFile.read(locks) else { return nil }
        for line in list.split(separator: UInt8(ascii: "\n")) {
            // 1: FLOCK ADVISORY WRITE 4711 fe:01:52438 0 EOF
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", let pid = Int32(fields[4]), pid > 0,
                let inode = fields[5].split(separator: ":").last.flatMap({ UInt64($0) }), inode == file.st_ino
            else { continue }
            return Holder(pid: pid)
        }
        return nil
    }

    /// True if an inherited descriptor has the lock: for that one, taking it again succeeds.
    private static func callerHasLock(of file: stat) -> Bool {
        guard let folder = opendir("/proc/self/fd") else { return false }
        defer { closedir(folder) }
        while let entry = try? FolderEntry.next(in: folder) {
            var status = stat()
            guard let number = Int32(String(cString: entry.name)), fstat(number, &status) == 0,
                status.st_dev == file.st_dev, status.st_ino == file.st_ino
            else { continue }
            if flock(number, LOCK_EX | LOCK_NB) == 0 { return true }
        }
        return false
    }
}
