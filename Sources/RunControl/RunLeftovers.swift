internal import CLinux
internal import Glibc

/// The processes that a dead run has left, known by the mark and the `FLOWRUN_RUN` that every process of a step inherits,
/// and by the leaves of cgroup v2 that they are in.
package enum RunLeftovers {
    /// How long they may take to go, in looks of two milliseconds.
    private static let looks = 5_000
    private static let lookInterval: UInt32 = 2_000

    /// Kills them and waits until they are gone. `mark` is what their marks have in common, as in the run's journal; nil
    /// where that is not known. Returns the numbers of those that could not be ended.
    package static func end(of run: String, mark: UInt64?) -> [Int32] {
        let owner = Owner(run: run, mark: mark)
        defer { if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) } }
        var left: [Int32] = []
        for _ in 0..<looks {
            if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) }
            left = processes(of: owner)
            guard !left.isEmpty else { return [] }
            for process in left { kill(process, of: owner) }
            usleep(lookInterval)
        }
        return left
    }

    /// Whose processes they are.
    private struct Owner {
        let run: String
        let mark: UInt64?
    }

    /// The process may have ended since, and its number be another's: so it is looked at again once it is held.
    private static func kill(_ process: Int32, of owner: Owner) {
        let descriptor = clinux_pidfd_open(process)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if belongs(process, to: owner) { _ = clinux_pidfd_send_signal(descriptor, SIGKILL) }
    }

    /// Without flowrun itself and what started it, if that is a step of the same run.
    private static func processes(of owner: Owner) -> [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let process = Int32(name), process != getpid(), process != getppid(), belongs(process, to: owner),
                !isDetached(process)
            else { continue }
            found.append(process)
        }
        return found
    }

    /// Whether its step says that it may outlive the run.
    private static func isDetached(_ process: Int32) -> Bool {
        var mark: UInt64 = 0
        return clinux_mark(process, &mark) == 1 && mark & (1 << UInt64(CLINUX_MARK_RUN) - 1) == 0
    }

    private static func belongs(_ process: Int32, to owner: Owner) -> Bool {
        if let wanted = owner.mark {
            var mark: UInt64 = 0
            let isMarked = clinux_mark(process, &mark) == 1 && mark >> UInt64(CLINUX_MARK_RUN) == wanted
            if isMarked, isAlive(process) { return true }
        }
        return hasVariable(process, of: owner.run)
    }

    /// A zombie keeps its mark until somebody reaps it, and its memory is gone.
    private static func isAlive(_ process: Int32) -> Bool {
        var buffer = [CChar](repeating: 0, count: 2)
        return readlink("/proc/\(process)/exe", &buffer, 1) > 0
    }

    /// Of a process that has ended nothing can be read any more.
    private static func hasVariable(_ process: Int32, of run: String) -> Bool {
        let file = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        let wanted = Array("FLOWRUN_RUN=\(run)".utf8)
        return bytes.split(separator: 0).contains { $0.elementsEqual(wanted) }
    }
}
