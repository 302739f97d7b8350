internal import CLinux
internal import Glibc

/// All processes of a command: those that have its mark, and their descendants. If no mark could be set, its session.
///
/// Signals only processes known to be ours: the group of a leader that is not reaped or that a pidfd identifies, and
/// members through pidfds, after another check.
@EventLoopActor
struct ProcessTree {
    /// The number of the leader and of its group.
    let id: pid_t
    /// The leader's own session, or flowrun's if the command has the terminal.
    private let session: pid_t
    let leader: Int32
    let mark: ProcessMark?
    /// nil if the command has none.
    private let leaf: CgroupLeaf?
    /// Runs of flowruns inside the command, whose processes have marks of their own.
    private var innerRuns: Set<UInt64> = []

    /// `leader` is a pidfd that stays open as long as this is used.
    init(id: pid_t, leader: Int32, mark: ProcessMark?, leaf: CgroupLeaf? = nil, leadsSession: Bool = true) {
        self.id = id
        session = leadsSession ? id : getsid(0)
        self.leader = leader
        self.mark = mark
        self.leaf = leaf
    }

    enum Presence {
        case absent, present
        /// The machine does not let flowrun look.
        case unknown
    }

    /// The number of processes found, of those that had left the session, and of those that got the signal.
    struct Reach {
        var found = 0
        var escaped = 0
        var sent = 0
    }

    // MARK: Looking

    /// Looks for processes of a command whose leader is reaped, not counting zombies, which stay until they are
    /// reaped. `isLikely`: a look at all processes is worth its cost if nothing cheaper gives proof.
    mutating func presence(isLikely: Bool) -> Presence {
        // A process that has left the leaf still has its mark.
        let isPopulated = leaf?.isPopulated
        if isPopulated == true { return .present }
        // A child that was handed to flowrun is still in the leaf.
        if let orphans = lookAtOrphans(includingStrangers: isPopulated == nil) { return orphans }
        // Without the guard's list there is no proof.
        guard isLikely || Containment.shared.layer == .guarded || hasGroup else { return .absent }
        guard let members else { return .unknown }
        return members.isEmpty ? .absent : .present
    }

    /// Returns nil if orphans are not known. An orphan that forks and ends at once is dead when it is read, and its
    /// child is in the next list, so only a list without a new process proves that none is left.
    private func lookAtOrphans(includingStrangers: Bool) -> Presence? {
        var presence = Presence.absent
        var seen: Set<pid_t> = []
        for _ in 0..<20 {
            guard let orphans = Containment.shared.orphans(includingStrangers: includingStrangers) else { return nil }
            guard !seen.isSuperset(of: orphans) else { return presence }
            for orphan in orphans where seen.insert(orphan).inserted {
                switch ProcessTable.read(orphan) {
                case .entry(let entry): if isMember(entry) { return .present }
                case .gone: break
                case .unknown: presence = .unknown
                }
            }
        }
        return .present
    }

    /// True if a process of the leader's own group is left, even if only a zombie.
    private var hasGroup: Bool { kill(-id, 0) == 0 || errno == EPERM }

    /// The living members; nil if the machine does not let flowrun look. Empty only after a fresh look.
    var members: [ProcessTable.Entry]? {
        mutating get {
            guard let entries = ProcessTable.look() else { return nil }
            let found = select(from: entries)
            guard found.isEmpty else { return found }
            return ProcessTable.lookAgain().map { select(from: $0) }
        }
    }

    private func isMember(_ entry: ProcessTable.Entry) -> Bool {
        guard mark == nil else { return entry.mark.map(isMember) ?? false }
        return session == id ? entry.session == id : entry.group == id
    }

    private func isMember(_ found: ProcessMark) -> Bool { found == mark || innerRuns.contains(found.run) }

    private mutating func select(from entries: [ProcessTable.Entry]) -> [ProcessTable.Entry] {
        let inLeaf = Set(leaf?.members ?? [])
        var members = entries.filter {
            isMember($0) || inLeaf.contains($0.pid) || ($0.pid == id && $0.parent == getpid())
        }
        guard !members.isEmpty else { return [] }
        let children = Dictionary(grouping: entries, by: \.parent)
        var known = Set(members.map(\.pid))
        var next = 0
        while next < members.count {
            for child in children[members[next].pid] ?? [] where known.insert(child.pid).inserted {
                members.append(child)
            }
            next += 1
        }
        if let mark {
            for member in members {
                if let found = member.mark, found.level < mark.level { innerRuns.insert(found.run) }
            }
        }
        return members
    }

    // MARK: Signalling

    /// Signals the leader's group at once, so that a process that forks meanwhile cannot slip away, then every other
    /// member.
    mutating func signal(_ signal: Int32, isLeaderReaped: Bool) -> Reach {
        var reach = Reach()
        // An older look would miss processes that have started since, and a TERM is sent only once.
        let members = ProcessTable.lookInThisTurn().map { select(from: $0) } ?? []
        let isLeafKilled = signal == SIGKILL && leaf?.isPopulated == true && leaf?.kill() == true
        reach.found = members.count
        reach.escaped = members.count { $0.session != session }
        var isGroupReached = true
        if isLeaderReaped {
            isGroupReached = clinux_pidfd_signal_group(leader, signal) == 0 || errno == ESRCH
        } else if kill(-id, signal) != 0 {
            // A new process has no session and no group yet: it gets the signal alone.
            isGroupReached = errno == ESRCH && clinux_pidfd_send_signal(leader, signal) == 0
        }
        let inGroup = members.count { $0.group == id }
        if isGroupReached { reach.sent += isLeaderReaped ? inGroup : max(1, inGroup) }
        // A member may have left the group since the look, before the signal came.
        for member in members where !isGroupReached || member.group != id || getpgid(member.pid) != id {
            if send(signal, to: member.pid, ifStill: { isStill(member, $0) }) { reach.sent += 1 }
        }
        if signal == SIGKILL { killOrphans(&reach) }
        if isLeafKilled { reach.sent = max(reach.sent, 1) }
        return reach
    }

    /// A process with the member's mark is still a member, even in a session that it has just begun.
    private func isStill(_ member: ProcessTable.Entry, _ pid: pid_t) -> Bool {
        switch (ProcessMark.of(pid), member.mark) {
        case (.mark(let found), let mark?): found == mark
        case (.unmarked, nil): getsid(pid) == member.session
        default: false
        }
    }

    /// Kills processes that fork and end faster than a look at all processes takes.
    private func killOrphans(_ reach: inout Reach) {
        var before: [pid_t] = []
        for _ in 0..<200 {
            guard let orphans = Containment.shared.orphans(includingStrangers: true), orphans != before else { return }
            before = orphans
            for orphan in orphans where send(SIGKILL, to: orphan, ifStill: isMember) { reach.sent += 1 }
        }
    }

    private func isMember(_ pid: pid_t) -> Bool {
        guard mark != nil else { return session == id ? getsid(pid) == id : getpgid(pid) == id }
        if case .mark(let found) = ProcessMark.of(pid) { return isMember(found) }
        return false
    }

    /// Sends a signal through a pidfd, if the process behind it is still the one that was meant.
    private func send(_ signal: Int32, to pid: pid_t, ifStill isMeant: (pid_t) -> Bool) -> Bool {
        ProcessTable.withSpareDescriptor {
            let pidfd = clinux_pidfd_open(pid)
            guard pidfd >= 0 else { return false }
            defer { close(pidfd) }
            return isMeant(pid) && clinux_pidfd_send_signal(pidfd, signal) == 0
        }
    }
}
