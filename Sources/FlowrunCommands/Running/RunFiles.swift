internal import Basics
internal import Glibc
internal import Planning
internal import Processes
internal import RunLog
internal import Running
internal import Syntax
internal import Workflow

/// The files of a live run in its state directory: the lock, the control socket, the journal.
@EventLoopActor
final class RunFiles {
    /// A shorter run makes no control socket.
    private static let socketDelay = Duration.milliseconds(50)

    private let directory: StateDirectory
    private let name: String?
    private let run: String
    private let lock: RunLock?
    /// The entry of this run in the lock.
    private var holder: RunLock.Holder
    private let claimCount: Int
    /// True if the lock has it, by which the next start would find what this run leaves if it is killed.
    private let isEntered: Bool
    private var server: ControlServer?
    /// Open while the journal is written.
    private var runFolder: StateDirectory?
    private var pendingService: (@EventLoopActor () -> Void)?
    /// nil before the run is counted, and if it cannot be.
    private var entry: StateRegister.Entry?

    /// Enters the state directory of a workflow, and waits until no other run has any of the plan's claims. If no
    /// folder can be used, returns nil with a message on standard error: the run continues alone, with only the lock of
    /// the workflow file itself, and `ctl` cannot reach it. Throws if the folder is explicit or unsafe, if an option
    /// needs one, or if the run would have to wait and may not.
    static func enter(_ request: RunRequest, run: String, claims plan: Plan) throws(CommandError) -> RunFiles? {
        defer { Guard.endsRunner(false) }
        let place = StatePlace(file: request.file, explicit: request.stateDirectory)
        let directory = try directory(at: place, for: request)
        guard let directory else {
            if request.file != "-" { try lockFile(request, nil) }
            return nil
        }
        return try RunFiles(directory, name: place.name(in: directory), run: run, request, plan)
    }

    /// Waits until only runs that see this one's claims have the file.
    private static func lockFile(
        _ request: RunRequest, _ state: (directory: StateDirectory, name: String)?
    ) throws(CommandError) {
        // One that has just locked the file, or that ends, needs a moment.
        var looks = 0
        try FileLock.take(of: request.file, isShared: state != nil) { _ in
            guard let state else { return [] }
            return Set(RunLock.entries(of: state.name, in: state.directory).filter(\.isLocked).map(\.holder.process))
        } wait: { holder throws(CommandError) in
            looks += 1
            guard looks > Self.strangersLooks else { return }
            let by = holder.map { " (process \($0.process))" } ?? ""
            let words =
                holder?.isFlowrun == false
                ? "`\(request.file)` is locked by another program\(by)"
                : "`\(request.file)` is being run under another name or with another state directory\(by)"
            guard request.mayWait else { throw CommandError(.inUse, ["cannot wait: \(words): --no-wait"]) }
            Guard.endsRunner(true)
            // It may be a run above, or what that was started by.
            guard request.options.runsAbove.isEmpty else {
                throw CommandError(.inUse, ["cannot wait inside of a step: \(words)"])
            }
            if looks == Self.strangersLooks + 1 { StandardStream.error.say("waiting: \(words)") }
        }
    }

    private static let strangersLooks = 8

    private static func directory(at place: StatePlace, for request: RunRequest) throws(CommandError) -> StateDirectory?
    {
        var candidate = place.preferred
        var failure: StateError?
        while true {
            do throws(StateError) {
                return try StateDirectory.made(candidate.path, isInProject: candidate.isInProject)
            } catch {
                guard !error.isUnsafe, request.stateDirectory == nil else { throw .unable(error.message) }
                guard failure == nil, let fallback = place.fallback else {
                    let message = (failure ?? error).message
                    if let option = request.optionThatNeedsState {
                        throw .unable(
                            "\(message); \(option) needs one: name a folder that can be written with --state-dir")
                    }
                    StandardStream.error.say("\(message); continuing, but `ctl` and `why` will not find the run")
                    return nil
                }
                failure = error
                candidate = fallback
            }
        }
    }

    private init(
        _ directory: StateDirectory, name: String?, run: String, _ request: RunRequest, _ plan: Plan
    ) throws(CommandError) {
        self.directory = directory
        self.name = name
        self.run = run
        holder = RunLock.Holder(
            pid: Guard.startedProcess, run: run, mark: Guard.mark, keepsJournal: request.keepsJournal,
            parent: request.options.runsAbove.first)
        guard let name else {
            // Any number of runs of standard input may be live.
            (lock, isEntered, claimCount) = (nil, false, 0)
            return
        }
        let lock: RunLock
        do throws(RunLockError) {
            lock = try RunLock(of: name, in: directory)
        } catch {
            throw Self.error(error, file: request.file, directory: directory)
        }
        self.lock = lock
        // Of the others, only killed runs have left something.
        for entry in lock.others where entry.isLeftover { try Self.sweep(entry, in: directory, lock) }
        let digests = plan.claimDigests
        claimCount = digests.count / 8
        for entry in lock.others where entry.isLive { holder.isWaiting = true }
        isEntered = lock.enter(&holder, claims: digests)
        lock.letOthersIn()
        if holder.isWaiting { Guard.endsRunner(true) }
        do throws(CommandError) {
            // After the entry, by which the runs beside this one know it.
            try Self.lockFile(request, (directory, name))
            guard holder.isWaiting else { return }
            guard isEntered else {
                throw .unable("cannot enter beside other runs of `\(request.file)`: the lock file cannot grow")
            }
            if let past = request.resumedRun, lock.others.contains(where: { $0.isLive && $0.holder.run == past }) {
                throw CommandError(.inUse, ["the run `\(past)` is still alive"])
            }
            let queue = RunQueue(
                lock, of: run, in: directory, claims: plan.claims, above: request.options.runsAbove,
                mayWait: request.mayWait)
            try queue.take(&holder) { entry throws(CommandError) in try Self.sweep(entry, in: directory, lock) }
        } catch {
            lock.disown()
            throw error
        }
    }

    /// Calls `body` once nothing is left of a run inside of this one whose process is gone: at once if it has ended by
    /// itself, else when its guard or sentinel has ended its steps, or this run has.
    func whenGone(_ run: String, _ body: @escaping @EventLoopActor () -> Void, looks: Int = 0) {
        guard
            let entry = name.flatMap({ RunLock.entries(of: $0, in: directory) })?.first(where: { $0.holder.run == run }
            ),
            !entry.holder.hasEnded, !entry.holder.isWaiting
        else { return body() }
        if !entry.isLocked {
            if (try? RunLeftovers.areThere(of: run, mark: entry.holder.mark)) == false { return body() }
            // One look each time: steps of this run go on meanwhile.
            if looks > Self.leftoverLooks {
                let ended = try? RunLeftovers.end(of: run, mark: entry.holder.mark, looks: 1)
                if ended?.left.isEmpty != false || looks > 4 * Self.leftoverLooks { return body() }
            }
        }
        Poller.shared.after(Self.leftoverInterval) { [weak self] in self?.whenGone(run, body, looks: looks + 1) }
    }

    private static let leftoverInterval = Duration.milliseconds(20)
    /// A sentinel ends everything within two seconds.
    private static let leftoverLooks = 150

    /// Removes what a killed run has left, while no other run starts.
    private static func sweep(
        _ entry: RunLock.Entry, in directory: StateDirectory, _ lock: RunLock
    ) throws(CommandError) {
        let last = entry.holder
        try endLeftovers(of: last.run, mark: last.mark)
        if let folder = lock.temporaryFolder(of: entry) { FolderRemoval.removeOwn(folder) }
        directory.removeSocket(of: last.run)
        lock.noteSwept(entry)
    }

    /// Records the path at which this run is about to make its temporary folder, so that the next start can remove it
    /// if this run is killed.
    func note(temporaryFolder path: String) { lock?.note(temporaryFolder: path, of: holder, claimCount: claimCount) }

    /// True if writing to a path would change a file of flowrun's own state.
    func owns(_ path: String) -> Bool { directory.owns(path) }

    private static func error(_ error: RunLockError, file: String, directory: StateDirectory) -> CommandError {
        switch error {
        case .isFull:
            CommandError(.inUse, ["`\(file)` has \(RunLock.maximum) live runs, the most at once; wait for one to end"])
        case .unusable(let error):
            .unable(
                "cannot lock `\(file)` in `\(directory.path)`: \(SystemError(error).words); "
                    + "name a folder on another file system with --state-dir")
        }
    }

    /// Listens for requests until `close`, once the run has lasted `socketDelay`. `report` receives the reason if
    /// that fails.
    ///
    /// Until then the lock shows `flowrun ctl` that there is a run to wait for; a run without a lock listens at once.
    func serveSoon(
        _ answer: @escaping ControlServer.Answer, report: @escaping @EventLoopActor (String) -> Void
    ) {
        pendingService = { [weak self] in
            if let message = self?.serve(answer) { report(message) }
        }
        guard lock != nil else { return startService() }
        Poller.shared.after(Self.socketDelay) { [weak self] in self?.startService() }
    }

    /// Ends the delay of `serveSoon`. Called before the whole process is stopped, because `ctl` must find it even
    /// then.
    func startService() {
        let service = pendingService
        pendingService = nil
        service?()
    }

    /// Listens for requests from now until `close`. Returns the reason if that fails; nil on success.
    func serve(_ answer: @escaping ControlServer.Answer) -> String? {
        if lock == nil { directory.removeStaleSockets() }
        do throws(SystemError) {
            server = try ControlServer(of: run, in: directory, answer: answer)
            return nil
        } catch {
            return "cannot make a socket in `\(directory.path)`: \(error.words)"
        }
    }

    /// Registers the run in the state directory. Must be called before its key and number are read.
    func count() { entry = StateRegister(in: directory).enter { RunHistory(in: directory).lastNumber } }

    /// Returns the results with which a resuming run begins. First prepares the run to resume: kills leftover
    /// processes, truncates the journal to its last complete record. `named` is its id, nil for the last one with the
    /// same targets.
    func resume(
        _ named: String?, targets: [String], outputReads: Set<String>
    ) throws(CommandError) -> ResumedRun {
        let history = RunHistory(in: directory)
        let request = ResumeRequest(
            run: named, targets: targets, workflow: name, lastHolder: lock?.previous, key: entry?.key,
            outputReads: outputReads)
        let past = try ResumedRun.find(request, in: history)
        if let past { try Self.prepare(past) }
        return try ResumedRun(past, request, in: history)
    }

    private static func prepare(_ past: PastRun) throws(CommandError) {
        // Processes that outlive a run's own end were meant to.
        let state: PastRun.State
        do throws(SystemError) { state = try past.readState() } catch { throw past.unreadable(error) }
        if state.isInterrupted { try endLeftovers(of: past.run, mark: past.header.mark) }
        do throws(SystemError) {
            try past.recover()
        } catch {
            throw .unable("cannot recover the journal of the run `\(past.run)`: \(error.words)")
        }
    }

    private static func endLeftovers(of run: String, mark: UInt64?) throws(CommandError) {
        let (count, left): (Int, [Int32])
        do throws(SystemError) {
            (count, left) = try RunLeftovers.end(of: run, mark: mark)
        } catch {
            throw .unable("cannot look for what is left of the run `\(run)`: \(error.words)")
        }
        guard left.isEmpty else {
            let numbers = left.map { "\($0)" }.joined(separator: ", ")
            throw .unable("cannot end what is left of the run `\(run)`: process \(numbers)")
        }
        if count > 0 {
            let processes = count == 1 ? "1 process" : "\(count) processes"
            StandardStream.error.say("ended \(processes) that the run `\(run)` left when it was killed")
        }
    }

    /// The key for the digests in journals; nil if it can be neither read nor made.
    var key: KeyedHash.Key? { entry.flatMap { KeyedHash.Key($0.key) } }

    /// Makes the journal of the run in a new folder. It is written when the first steps already run; at once if nothing
    /// else says that there is such a run. `fill` sets the fields of its header that do not come from the state
    /// directory.
    func openJournal(
        isDurable: Bool, outputLimit: Int, _ fill: (inout JournalHeader) -> Void
    ) throws(CommandError) -> JournalWriter {
        let folder: StateDirectory
        do throws(StateError) {
            folder = try directory.makeRunFolder(run)
        } catch {
            throw .unable(error.isUnsafe ? error.message : Self.noJournal(error.message))
        }
        runFolder = folder
        let header = JournalHeader { header in
            header.run = run
            header.workflow = name
            header.folder = folder.path
            header.number = entry?.number ?? RunHistory(in: directory).lastNumber + 1
            header.key = entry.map { CRC32C.digits(of: $0.key) }
            fill(&header)
        }
        do throws(SystemError) {
            let journal = try JournalWriter(
                in: folder.descriptor, header, isDurable: isDurable, outputLimit: outputLimit)
            if isDurable { try directory.sync() }
            if !isEntered {
                journal.flush()
                if let failure = journal.failure { throw failure }
            }
            return journal
        } catch {
            directory.removeRun(run)
            throw .unable(Self.noJournal("\(folder.path): \(error.words)"))
        }
    }

    /// Returns the place for the copies of the tree of this run, after removing those that no run goes on in any more:
    /// that of the last run with the same targets, unless this one resumes it.
    func treeCopies(keptByJournal isKept: Bool, targets: [String], resuming past: PastResults?) -> TreeCopies? {
        TreeCopyFolders.existing(in: directory)?.removeOld { [name, directory, holder] last in
            // One that has just begun has no header yet. Each workflow from standard input is another file.
            guard name != nil, past?.run != last, past?.runs.contains(last) != true,
                let run = try? PastRun(last, in: directory), !run.isHeld, run.header.workflow == name
            else { return false }
            return run.isLast(of: targets, isNested: holder.parent != nil)
        }
        return TreeCopyFolders.place(of: past?.origin ?? run, in: directory, outlivingRun: isKept)
    }

    /// Removes the traces of a run that never began: its journal, and its name in the lock.
    func forgetRun() {
        if runFolder != nil { directory.removeRun(run) }
        lock?.disown()
    }

    private static func noJournal(_ reason: String) -> String {
        "cannot keep a journal of the run: \(reason); --no-journal runs without one"
    }

    /// Removes runs that are too old. `outputSize` as in `RunHistory`.
    func removeOldRuns(outputSize: Int) { RunHistory(in: directory).removeOldRuns(outputSize: outputSize) }

    /// Ends the service, and records in the lock that nothing of the run is left. The lock is released with the
    /// process.
    func close() {
        pendingService = nil
        server?.close()
        server = nil
        lock?.end(holder)
    }
}
