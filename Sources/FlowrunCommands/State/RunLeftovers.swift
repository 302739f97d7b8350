internal import Basics
internal import CLinux
internal import Glibc
internal import Processes

/// The processes that a dead run has left, known by the mark and the `FLOWRUN_RUN` that every process of a step inherits,
/// and by the leaves of cgroup v2 that they are in.
enum RunLeftovers {
    /// How long they may take to go, in looks of two milliseconds.
    private static let looks = 5_000
    private static let lookInterval: UInt32 = 2_000

    /// Kills them and waits until they are gone. `mark` is the part that their marks share, as in the run's journal and
    /// lock; nil if it is not known. Returns how many there were and the numbers of those that could not be ended;
    /// throws if the machine does not let flowrun look for them.
    @EventLoopActor
    static func end(of run: String, mark: UInt64?) throws(SystemError) -> (count: Int, left: [Int32]) {
        let processes = RunProcesses(mark: mark) { process throws(SystemError) in
            try hasVariable(process, of: run)
        }
        defer { if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) } }
        var left = try processes.find()
        var seen = Set(left)
        // Even an empty list may hide processes that fork and end faster than a look takes.
        processes.endMarked()
        for _ in 0..<looks {
            if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) }
            left = try processes.find()
            guard !left.isEmpty else { return (seen.count, []) }
            seen.formUnion(left)
            for process in left { try processes.kill(process) }
            usleep(lookInterval)
        }
        return (seen.count, left)
    }

    /// Of a process that has ended nothing can be read any more, and of another user's only what its mark says.
    private static func hasVariable(_ process: Int32, of run: String) throws(SystemError) -> Bool {
        let file = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if [ENOENT, ESRCH, EACCES, EPERM].contains(errno) { return false }
            throw .last
        }
        defer { close(file) }
        do throws(SystemError) {
            let wanted = Array("FLOWRUN_RUN=\(run)".utf8)
            return try WholeFile.read(file).split(separator: 0).contains { $0.elementsEqual(wanted) }
        } catch {
            if error.number == ESRCH { return false }
            throw error
        }
    }
}
