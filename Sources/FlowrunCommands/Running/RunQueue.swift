internal import Basics
internal import Glibc
internal import Processes
internal import Running
internal import Syntax

/// Takes the claims of a run, all at once: waits until no other run of the file has any of them.
///
/// A run inside of none holds nothing while it waits, so that no ring of waits goes through it. One inside of a step
/// borrows from the runs above what they have not begun, and is refused what they are using and any wait that would
/// close a ring.
@EventLoopActor
final class RunQueue {
    private let lock: RunLock
    private let directory: StateDirectory
    private let mayWait: Bool
    private let above: [String]
    private let claims: [UInt64: Claim]
    /// By run, the digests of claims that it has given up; it never takes them again.
    private var givenUp: [String: Set<UInt64>] = [:]
    /// By run, the claims that are this run's, too; they do not change.
    private var known: [String: Set<UInt64>] = [:]
    private var waits: RunWaits?
    private var reported: Set<String> = []
    /// The run that this one waits for first, and since when.
    private var first: (run: String, since: ContinuousClock.Instant)?
    /// The id of this run.
    private let own: String

    /// Microseconds.
    private static let pollInterval: UInt32 = 5_000
    /// A run above makes its socket a moment after its first step; it is asked this many times.
    private static let tries = 2_000
    /// Runs, and claims of each, in a message.
    private static let named = 4
    /// Bytes of names in one request, which is limited.
    private static let partSize = 32 << 10

    /// `above` are the runs in whose steps this one was started, the nearest first.
    init(
        _ lock: RunLock, of run: String, in directory: StateDirectory, claims: [Claim], above: [String], mayWait: Bool
    ) {
        own = run
        self.lock = lock
        self.directory = directory
        self.mayWait = mayWait
        self.above = above
        self.claims = Dictionary(claims.map { ($0.digest, $0) }) { first, _ in first }
    }

    /// A run that this one waits for, and the claims of both that it has not given up.
    private struct Blocker {
        let entry: RunLock.Entry
        let digests: Set<UInt64>

        var run: String { entry.holder.run }
    }

    /// Waits, and then marks this run as begun. `sweep` removes what a killed run has left, while no other run starts.
    /// Throws if the run may not wait.
    func take(
        _ holder: inout RunLock.Holder, sweep: (RunLock.Entry) throws(CommandError) -> Void
    ) throws(CommandError) {
        try borrow()
        while true {
            // Looks without a turn as long as there is something to wait for.
            let blockers = blockers(of: holder, among: lock.currentOthers())
            guard !blockers.isEmpty else {
                let hasBegun = try lock.takingTurn { () throws(CommandError) -> Bool in try begin(&holder, sweep) }
                if hasBegun { return }
                continue
            }
            guard mayWait else {
                throw CommandError(.inUse, ["cannot wait for " + words(of: blockers) + ": --no-wait"])
            }
            if !above.isEmpty { try judge(blockers, holder) }
            report(blockers)
            wait(for: blockers.first { !$0.entry.holder.isWaiting } ?? blockers[0])
        }
    }

    /// Marks the run as begun. Returns false if another one has been faster.
    private func begin(
        _ holder: inout RunLock.Holder, _ sweep: (RunLock.Entry) throws(CommandError) -> Void
    ) throws(CommandError) -> Bool {
        for entry in lock.currentOthers() where entry.isLeftover { try sweep(entry) }
        // What was read without a turn may have been half written.
        known = [:]
        guard blockers(of: holder, among: lock.currentOthers()).isEmpty else { return false }
        holder.isWaiting = false
        lock.update(holder)
        waits = nil
        return true
    }

    private func blockers(of own: RunLock.Holder, among others: [RunLock.Entry]) -> [Blocker] {
        others.filter { Self.comesFirst($0.holder, isLive: $0.isLive, before: own, above: above) }.compactMap { entry in
            let digests = common(with: entry).subtracting(givenUp[entry.holder.run] ?? [])
            return digests.isEmpty ? nil : Blocker(entry: entry, digests: digests)
        }
    }

    /// Returns the claims of both runs, all of this run's if those of the other cannot be read.
    private func common(with entry: RunLock.Entry) -> Set<UInt64> {
        if let known = known[entry.holder.run] { return known }
        let theirs = lock.claims(of: entry)
        let common = Set(claims.keys).intersection(theirs ?? Set(claims.keys))
        if theirs != nil { known[entry.holder.run] = common }
        return common
    }

    /// Returns true if a run has to wait for another one with common claims: one that has begun, or one that has waited
    /// for longer. A run inside of others does not queue behind runs that have nothing yet.
    nonisolated static func comesFirst(
        _ other: RunLock.Holder, isLive: Bool, before own: RunLock.Holder, above: [String]
    ) -> Bool {
        guard isLive, !above.contains(other.run) else { return false }
        guard other.isWaiting else { return true }
        return above.isEmpty && other.number < own.number
    }

    // MARK: Runs above

    /// Borrows the claims of the runs above, which then start nothing of them before this process has ended.
    private func borrow() throws(CommandError) {
        for entry in lock.others where entry.isLive && above.contains(entry.holder.run) {
            for part in parts(of: common(with: entry)) {
                try borrow(Set(part.compactMap { claims[$0] }), from: entry.holder)
            }
        }
    }

    private func borrow(_ wanted: Set<Claim>, from holder: RunLock.Holder) throws(CommandError) {
        for _ in 0..<Self.tries {
            guard let fields = ask(.lend(wanted, to: own), of: holder.run) else {
                usleep(Self.pollInterval)
                continue
            }
            if fields.string("message") != nil { return }
            if let error = fields.string("error") {
                throw .unable("the run \(holder.run), in a step of which this run was started, lends nothing: \(error)")
            }
            let used = (fields.strings("in_use") ?? []).compactMap { Claim(word: $0) }
            throw CommandError(.inUse, [refusal(of: used.isEmpty ? Array(wanted) : used, by: holder)])
        }
        throw CommandError(
            .inUse, ["the run \(holder.run), in a step of which this run was started, does not answer"])
    }

    /// Returns the reply and the open connection; nil if the run does not answer.
    /// The connection of a reply stays open until this process ends: it is the loan.
    private func ask(_ request: ControlRequest, of run: String) -> JSONObject? {
        guard let (reply, connection) = try? ControlClient.open(request.line, of: run, in: directory) else {
            return nil
        }
        if let fields = reply.withUnsafeBytes({ JSONObject($0) }) { return fields }
        close(connection)
        return nil
    }

    private func refusal(of used: [Claim], by holder: RunLock.Holder) -> String {
        let between: [String] = above.prefix { $0 != holder.run }.reversed()
        let way = [holder.run] + between + ["this run"]
        let verb = used.count == 1 ? "is" : "are"
        return "\(Self.list(used)) \(verb) in use by the run \(holder.run), in a step of which this run was started: "
            + way.joined(separator: " → ") + "; call what does not need that"
    }

    private static func openWaits() throws(CommandError) -> RunWaits {
        let folder: StateDirectory
        do throws(StateError) { folder = try StatePlace.ofAllFiles() } catch {
            throw CommandError(.inUse, ["cannot wait inside of a step, where waits are judged: \(error.message)"])
        }
        guard let waits = RunWaits(in: folder) else {
            throw CommandError(
                .inUse, ["cannot wait inside of a step, where waits are judged: cannot open the list of them"])
        }
        return waits
    }

    private func judge(_ blockers: [Blocker], _ holder: RunLock.Holder) throws(CommandError) {
        if waits == nil { waits = try Self.openWaits() }
        let wait = RunWaits.Wait(run: holder.run, above: above, targets: blockers.map(\.run))
        let ring: [String]?
        do throws(SystemError) { ring = try waits?.enter(wait) } catch {
            throw .unable("cannot enter that this run waits for others: \(error.words)")
        }
        guard let ring else { return }
        throw CommandError(
            .inUse,
            [
                "cannot wait for " + words(of: blockers) + ", because that waits for this run: "
                    + (["this run"] + ring).joined(separator: " → ") + ", in a step of which this run was started"
            ])
    }

    // MARK: Waiting

    /// Waits until a run may have given up what this one needs of it.
    private func wait(for blocker: Blocker) {
        guard !blocker.entry.holder.isWaiting, let part = parts(of: blocker.digests).first else {
            usleep(Self.pollInterval * 4)
            return
        }
        let request = ControlRequest.await(Set(part.compactMap { claims[$0] }))
        do throws(ControlClient.Failure) {
            let reply = try ControlClient.ask(request.line, of: blocker.run, in: directory)
            if reply.withUnsafeBytes({ JSONObject($0) })?.string("message") != nil {
                givenUp[blocker.run, default: []].formUnion(part)
            } else {
                usleep(Self.pollInterval)
            }
        } catch {
            // Silent is one that has nothing to give up yet, or that is stopped; the others are about to make their
            // socket, or to end.
            if error != .silent { usleep(Self.pollInterval) }
        }
    }

    /// Says for what this run waits, once for each run that has it.
    private func report(_ blockers: [Blocker]) {
        let begun = blockers.filter { !$0.entry.holder.isWaiting }
        let named = begun.isEmpty ? [blockers[0]] : begun
        if first?.run != named[0].run { first = (named[0].run, .now) }
        let new = named.filter { !reported.contains($0.run) }
        guard !new.isEmpty else { return }
        // One whose process is gone is about to end, and one that waits to begin: unless they are stopped.
        let isUsual = new.contains { $0.entry.holder.isAlive } && (!begun.isEmpty || reported.isEmpty)
        guard isUsual || first.map({ $0.since.duration(to: .now) >= .seconds(1) }) == true else { return }
        reported.formUnion(named.map(\.run))
        StandardStream.error.say("waiting for " + words(of: named))
    }

    private func words(of blockers: [Blocker]) -> String {
        blockers.prefix(Self.named).map { blocker in
            let holder = blocker.entry.holder
            let claims = blocker.digests.compactMap { self.claims[$0] }.sorted { $0.word < $1.word }
            let verb = holder.isWaiting ? "waits for" : "has"
            return "the run \(holder.run) (process \(holder.pid)), which \(verb) \(Self.list(claims))"
        }.joined(separator: ", ") + (blockers.count > Self.named ? ", …" : "")
    }

    private static func list(_ claims: [Claim]) -> String {
        claims.prefix(named).map(\.described).joined(separator: ", ")
            + (claims.count > named ? " and \(claims.count - named) more" : "")
    }

    /// Returns claims in parts that each fit into one request.
    private func parts(of digests: Set<UInt64>) -> [[UInt64]] {
        var parts: [[UInt64]] = []
        var size = Self.partSize
        for digest in digests.sorted() {
            let length = (claims[digest]?.word.utf8.count ?? 0) * 2 + 8
            if size + length > Self.partSize {
                parts.append([])
                size = 0
            }
            parts[parts.count - 1].append(digest)
            size += length
        }
        return parts
    }
}
