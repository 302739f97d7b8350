internal import CLinux
internal import Glibc

/// All processes of one session, which is what a step's processes are unless one of them left it on purpose.
///
/// The session's number is the leader's pid. It cannot be given to a stranger while the leader is unreaped or any member
/// lives; members found in /proc are checked again behind a pidfd before they are signalled (reliability F08).
struct ProcessSession {
    let id: pid_t

    /// Whether a process of the leader's own group is left, if only a zombie, without a look at /proc. Meaningful once
    /// the leader is reaped.
    var hasGroup: Bool { kill(-id, 0) == 0 || errno == EPERM }

    /// Signals the leader's group at one stroke, then every member of the session that has left that group.
    /// Returns how many were reached.
    @discardableResult
    func signal(_ signal: Int32, leaderIsReaped: Bool) -> Int {
        if !leaderIsReaped { kill(-id, signal) }
        return members().count { pid in
            guard leaderIsReaped || getpgid(pid) != id else { return false }
            let pidfd = clinux_pidfd_open(pid)
            guard pidfd >= 0 else { return false }
            defer { close(pidfd) }
            guard Self.session(of: pid) == id else { return false }
            return clinux_pidfd_send_signal(pidfd, signal) == 0
        }
    }

    /// The living members, the leader included. Reads all of /proc, so it is for teardown only.
    func members() -> [pid_t] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var members: [pid_t] = []
        while let entry = readdir(folder) {
            let pid = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { atoi($0) }
            }
            if pid > 0, Self.session(of: pid) == id { members.append(pid) }
        }
        return members
    }

    /// The session of a process that is neither gone nor a zombie; nil otherwise.
    private static func session(of pid: pid_t) -> pid_t? {
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer -> pid_t? in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            // pid (name) state ppid pgrp session: the name may hold anything, its last parenthesis ends it.
            let text = buffer.prefix(count)
            guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 4)
            guard fields.count > 3, fields[0].first != UInt8(ascii: "Z"), fields[0].first != UInt8(ascii: "X") else {
                return nil
            }
            return pid_t(String(decoding: fields[3], as: UTF8.self))
        }
    }
}
