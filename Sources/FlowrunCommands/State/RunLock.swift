internal import Basics
internal import CLinux
internal import Glibc

/// The runs of a workflow file in its state directory: the live ones, and those that have ended last.
///
/// Each run has a slot of the lock file, whose bytes it locks for as long as it lives; the kernel gives them up with
/// the process, however that ends, so that there is never a stale lock to remove. A slot says who has it and what that
/// run claims. One start at a time enters: alone, it locks the whole file in one call; beside others, the last bytes.
final class RunLock: Sendable {
    /// A run that has a slot, or had it last.
    struct Holder: Sendable, Hashable {
        let pid: Int32
        let run: String
        /// The part that the marks of the run's processes share; nil if they have none.
        var mark: UInt64?
        /// True once the run has ended and nothing of it is left except what it has reported as lost.
        var hasEnded = false
        /// True for a run with a journal, unless it has ended by itself.
        var keepsJournal: Bool
        /// True while it waits for the claims of other runs, and has started nothing.
        var isWaiting = false
        /// Larger than that of every run that entered before; 0 if it cannot be read.
        var number = 0
        /// The process that locks the workflow file for the run; 0 if it cannot be read.
        var process: Int32 = 0
        /// The run in one of whose steps it was started; nil for none.
        var parent: String?

        init(pid: Int32, run: String, mark: UInt64? = nil, keepsJournal: Bool = false, parent: String? = nil) {
            self.pid = pid
            self.run = run
            self.mark = mark
            self.keepsJournal = keepsJournal
            self.parent = parent
        }
    }

    /// A slot that was in use: its run, and what the file says about it.
    struct Entry: Sendable {
        fileprivate let slot: Int
        let holder: Holder
        /// True if a process has locked the slot.
        let isLocked: Bool
        /// The number of claims; nil if it cannot be read, so that they may be any.
        fileprivate let claimCount: Int?

        /// True if the run is alive, and has not said that it is over.
        var isLive: Bool { isLocked && !holder.hasEnded }
        /// True if the run was killed after it may have started something, and has not been swept.
        var isLeftover: Bool { !isLocked && !holder.hasEnded && !holder.isWaiting }
    }

    private let descriptor: Int32
    private let slot: Int
    /// The mask of signals before this run entered; nil if it blocked none, because it was alone and had nothing to
    /// wait for.
    private let maskBefore: sigset_t?
    /// The last run that an entry of this one hides; nil if there was none.
    private let before: Holder?
    /// The entries of other runs at the time of the start.
    let others: [Entry]

    /// The most runs of one file that may live at once.
    static let maximum = 1024
    static var slotSize: off_t { 16 << 20 }
    /// The most claims that a slot names one by one; a run with more has claimed everything.
    static var mostClaims: Int { Int(slotSize) / 16 }
    private static var entryByte: off_t { slotSize * off_t(maximum) }

    /// Takes a slot of the workflow with this name; until `letOthersIn`, no other start does. Slots of killed runs name
    /// them until `enter`, so that if this start is killed before, the next one still finds the leftovers.
    init(of name: String, in directory: StateDirectory) throws(RunLockError) {
        let file = openat(
            directory.descriptor, Self.fileName(name), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .unusable(errno: errno) }
        do throws(RunLockError) {
            if clinux_lock_range(file, 0, 0, 0) == 0 {
                others = Self.entries(in: file, isAlone: true)
                // What a killed run left is ended first, which may take seconds.
                (slot, maskBefore) = (0, others.contains { $0.isLeftover } ? Self.blockStops() : nil)
                before = Self.newest(of: others) ?? others.first { $0.slot == 0 }?.holder
            } else {
                guard errno == EAGAIN else { throw .unusable(errno: errno) }
                guard let mask = Self.takeTurn(file) else { throw .unusable(errno: errno) }
                maskBefore = mask
                guard let slot = Self.freeSlot(of: file) else { throw .isFull }
                self.slot = slot
                others = Self.entries(in: file, isAlone: false)
                before = others.first { $0.slot == slot }?.holder
            }
        } catch {
            close(file)
            throw error
        }
        descriptor = file
    }

    private static func freeSlot(of file: Int32) -> Int? {
        (0..<maximum).first { clinux_lock_range(file, start(ofSlot: $0), slotSize, 0) == 0 }
    }

    /// Waits until no other start enters, and blocks the signals that stop a process. Returns the mask of signals
    /// before; nil with errno if the file cannot be locked.
    private static func takeTurn(_ file: Int32) -> sigset_t? {
        var mask = blockStops()
        guard clinux_lock_range(file, entryByte, 1, 1) == 0 else {
            let error = errno
            pthread_sigmask(SIG_SETMASK, &mask, nil)
            errno = error
            return nil
        }
        return mask
    }

    /// Blocks the signals by which a terminal stops a process: a stopped one would keep all others out. Returns the
    /// mask of signals before.
    private static func blockStops() -> sigset_t {
        var (stops, before) = (sigset_t(), sigset_t())
        sigemptyset(&stops)
        for signal in [SIGTSTP, SIGTTIN, SIGTTOU] { sigaddset(&stops, signal) }
        pthread_sigmask(SIG_BLOCK, &stops, &before)
        return before
    }

    deinit { close(descriptor) }

    /// The newest run that is over, apart from those that ran inside of others; nil if there was none.
    var previous: Holder? { Self.newest(of: others) { !$0.isLive } }

    // Loops without key paths and closures in between, which every start would pay for.
    private static func newest(of entries: [Entry], where isWanted: (Entry) -> Bool = { _ in true }) -> Holder? {
        var newest: Holder?
        for entry in entries where entry.holder.parent == nil && !entry.holder.isWaiting && isWanted(entry) {
            if newest == nil || newest!.number < entry.holder.number { newest = entry.holder }
        }
        return newest
    }

    /// Writes the run into its slot, with the digests of its claims. Returns false if that fails, as when no file may
    /// grow. Must be called before `letOthersIn`.
    @discardableResult
    func enter(_ holder: inout Holder, claims: [UInt8] = []) -> Bool {
        holder.number = 1
        holder.process = getpid()
        var (areBehind, areAlive) = (false, false)
        for entry in others {
            holder.number = max(holder.number, entry.holder.number + 1)
            if entry.slot > 0 { areBehind = true }
            if entry.isLocked { areAlive = true }
        }
        // Alone, this run is the first again: everything that others left has been swept.
        if slot == 0, areBehind, !areAlive { ftruncate(descriptor, Self.slotSize) }
        let count = claims.count / 8
        let digests = count > Self.mostClaims ? [] : claims
        let bytes = Self.line(holder) + Self.secondLine(holder, claimCount: count) + digests
        return pwrite(descriptor, bytes, bytes.count, start) == bytes.count
    }

    /// Ends the entry of this run: other starts may go on.
    func letOthersIn() { endTurn(maskBefore) }

    private func endTurn(_ mask: sigset_t?) {
        let byte = slot == 0 ? Self.slotSize : Self.entryByte
        clinux_unlock_range(descriptor, byte, slot == 0 ? 0 : 1)
        if var mask { pthread_sigmask(SIG_SETMASK, &mask, nil) }
    }

    /// Calls `body` while no other run starts, or goes on after a wait. Throws what it throws, and without calling it
    /// if the turn cannot be taken.
    func takingTurn<Result>(
        _ body: () throws(CommandError) -> Result
    ) throws(CommandError) -> Result {
        guard let mask = Self.takeTurn(descriptor) else {
            throw .unable("cannot lock the file of the runs that wait: \(SystemError(errno).words)")
        }
        defer { endTurn(mask) }
        return try body()
    }

    /// Returns the entries of the other runs now.
    func currentOthers() -> [Entry] { Self.entries(in: descriptor, isAlone: false).filter { $0.slot != slot } }

    /// Returns the digests of a run's claims; nil if they cannot be read.
    func claims(of entry: Entry) -> Set<UInt64>? {
        guard let count = entry.claimCount else { return nil }
        var digests: Set<UInt64> = []
        let bytes = [UInt8](unsafeUninitializedCapacity: count * 8) { buffer, size in
            size = max(0, pread(descriptor, buffer.baseAddress, buffer.count, start(of: entry) + Self.claimsOffset))
        }
        guard bytes.count == count * 8 else { return nil }
        bytes.withUnsafeBytes { bytes in
            for index in 0..<count {
                digests.insert(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self)))
            }
        }
        return digests
    }

    /// Writes the run's state again, such as that it no longer waits.
    func update(_ holder: Holder) { write(Self.line(holder), at: start) }

    /// Marks the run as ended with nothing left of it, so that the next start need not look for leftovers.
    func end(_ holder: Holder) {
        var ended = holder
        ended.hasEnded = true
        ended.keepsJournal = false
        ended.isWaiting = false
        update(ended)
    }

    /// Writes the slot's previous run into it again, for a run that is rejected: a run that never began is not the last
    /// one. Leftovers of the previous run have been removed by then. The slot itself remains locked.
    func disown() {
        if var holder = before {
            holder.hasEnded = true
            write(Self.line(holder) + Self.secondLine(holder, claimCount: 0), at: start)
        } else {
            write(Array(repeating: UInt8(ascii: " "), count: Self.lineSize * 2), at: start)
        }
    }

    /// Marks the leftovers of another run as removed.
    func noteSwept(_ entry: Entry) {
        var holder = entry.holder
        holder.hasEnded = true
        write(Self.line(holder), at: start(of: entry))
    }

    /// Records the path at which a run is about to make its temporary folder.
    func note(temporaryFolder path: String, of holder: Holder, claimCount: Int) {
        write(Array("\(holder.run) \(path)\0".utf8), at: start + Self.folderOffset(claimCount))
    }

    /// Returns the temporary folder of a run; nil unless it has noted one.
    func temporaryFolder(of entry: Entry) -> String? {
        let place = start(of: entry) + Self.folderOffset(entry.claimCount ?? 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: 8192) { buffer, count in
            count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, place))
        }
        guard let end = bytes.firstIndex(of: 0) else { return nil }
        let text = String(decoding: bytes[..<end], as: UTF8.self)
        let run = entry.holder.run
        return text.hasPrefix("\(run) /") ? String(text.dropFirst(run.utf8.count + 1)) : nil
    }

    private var start: off_t { Self.start(ofSlot: slot) }
    private func start(of entry: Entry) -> off_t { Self.start(ofSlot: entry.slot) }
    private static func start(ofSlot slot: Int) -> off_t { off_t(slot) * slotSize }

    private static var claimsOffset: off_t { off_t(lineSize * 2) }
    private static func folderOffset(_ claimCount: Int) -> off_t {
        claimsOffset + off_t(claimCount > mostClaims ? 0 : claimCount * 8)
    }

    @discardableResult
    private func write(_ bytes: [UInt8], at place: off_t) -> Bool {
        pwrite(descriptor, bytes, bytes.count, place) == bytes.count
    }
}

// Reading without a slot.
extension RunLock {
    /// Returns the runs of a workflow that have a slot, or had one last, in no order; changes nothing.
    static func entries(of name: String, in directory: StateDirectory) -> [Entry] {
        let file = openat(directory.descriptor, fileName(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        return entries(in: file, isAlone: false)
    }

    /// Returns the entries of all workflows.
    static func entries(in directory: StateDirectory) -> [Entry] {
        names(in: directory).flatMap { entries(of: $0, in: directory) }
    }

    /// Returns the newest run of a workflow that has begun, live or over, apart from those inside of others.
    static func newest(of name: String, in directory: StateDirectory) -> Holder? {
        newest(of: entries(of: name, in: directory))
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

    /// `isAlone` says that no other process has locked anything.
    private static func entries(in file: Int32, isAlone: Bool) -> [Entry] {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_size > 0 else { return [] }
        var entries: [Entry] = []
        for slot in 0..<min(maximum, Int((status.st_size - 1) / slotSize) + 1) {
            // First: a run may end and let go of its slot meanwhile.
            let isLocked = !isAlone && clinux_range_is_locked(file, start(ofSlot: slot), slotSize) != 0
            guard let (holder, count) = holder(in: file, at: start(ofSlot: slot)) else { continue }
            entries.append(Entry(slot: slot, holder: holder, isLocked: isLocked, claimCount: count))
        }
        return entries
    }
}

/// The reason why a run cannot have its lock.
enum RunLockError: Error, Sendable, Hashable {
    /// As many runs of the file live as may at once.
    case isFull
    case unusable(errno: Int32)
}
