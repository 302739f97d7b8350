internal import CLinux
internal import Glibc

/// All processes of one session, which is what a step's processes are unless one of them left it on purpose.
///
/// The session's number is the leader's pid. It cannot be given to a stranger while the leader is unreaped or any
/// member lives; members found in /proc are checked again behind a pidfd before they are signalled.
@EventLoopActor
struct ProcessSession {
    let id: pid_t

    /// Whether a process of the leader's own group is left, if only a zombie, without a look at /proc. Meaningful once
    /// the leader is reaped.
    var hasGroup: Bool { kill(-id, 0) == 0 || errno == EPERM }

    /// Whether anybody of the session is left, zombies not counted: they keep their group's number until PID 1 reaps
    /// them, which that of many a container never does. Where /proc cannot be read the group alone tells.
    var hasMembers: Bool { ProcessTable.members(of: id).map { !$0.isEmpty } ?? hasGroup }

    /// Signals the leader's group at one stroke, so that a process that forks meanwhile cannot slip away, then every
    /// member of the session that has left that group. `leader` is its pidfd while it is unreaped. Returns how many
    /// processes it found.
    @discardableResult
    func signal(_ signal: Int32, leader: Int32?) -> Int {
        let members = ProcessTable.members(of: id) ?? []
        if let leader {
            // A new process has no session and no group yet: it gets the signal alone.
            if kill(-id, signal) != 0, errno == ESRCH { clinux_pidfd_send_signal(leader, signal) }
        } else if hasGroup {
            kill(-id, signal)
        }
        for member in members where member.group != id {
            let pidfd = clinux_pidfd_open(member.pid)
            guard pidfd >= 0 else { continue }
            defer { close(pidfd) }
            if ProcessTable.entry(of: member.pid)?.session == id { clinux_pidfd_send_signal(pidfd, signal) }
        }
        return members.count
    }
}
