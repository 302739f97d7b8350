internal import Basics
internal import CLinux
internal import Glibc
internal import Processes

/// The processes that a dead run has left. They are found by the mark and the `FLOWRUN_RUN` that every process of a
/// step inherits, and by the leaves of cgroup v2 that contain them.
enum RunLeftovers {
    /// The most looks until they must be gone, two milliseconds apart.
    private static let looks = 5_000
    private static let lookInterval: UInt32 = 2_000

    /// Kills them and waits until they are gone. `mark` is the part that their marks share, from the run's journal or
    /// lock; nil if unknown. Returns their number, and the ids of processes that could not be ended. Throws if the
    /// machine does not let flowrun look for them.
    @EventLoopActor
    static func end(of run: String, mark: UInt64?) throws(SystemError) -> (count: Int, left: [Int32]) {
        let processes = RunProcesses(mark: mark) { process throws(SystemError) in
            try hasVariable(process, of: run)
        }
        defer { if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) } }
        var left = try processes.find()
        var seen = Set(left)
        // Processes that fork and end faster than a look takes are missing even from an empty list.
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

    /// Returns false for processes that have ended or belong to another user, whose environment cannot be read.
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
