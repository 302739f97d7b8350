internal import CLinux
internal import Glibc

/// The processes that a dead run has left, known by the `FLOWRUN_RUN` that every process of a step inherits.
package enum RunLeftovers {
    /// How long they may take to go, in looks of two milliseconds.
    private static let looks = 5_000
    private static let lookInterval: UInt32 = 2_000

    /// Kills them and waits until they are gone. Returns the numbers of those that could not be ended.
    package static func end(of run: String) -> [Int32] {
        var left: [Int32] = []
        for look in 0..<looks {
            left = processes(of: run)
            guard !left.isEmpty else { return [] }
            for process in left { kill(process, of: run) }
            // The first look mostly finds nothing.
            if look > 0 || !left.isEmpty { usleep(lookInterval) }
        }
        return left
    }

    /// The process may have ended since, and its number be another's: so it is looked at again once it is held.
    private static func kill(_ process: Int32, of run: String) {
        let descriptor = clinux_pidfd_open(process)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if belongs(process, to: run) { _ = clinux_pidfd_send_signal(descriptor, SIGKILL) }
    }

    /// Without flowrun itself and what started it, if that is a step of the same run.
    private static func processes(of run: String) -> [Int32] {
        guard let folder = opendir("/proc") else { return [] }
        defer { closedir(folder) }
        var found: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let process = Int32(name), process != getpid(), process != getppid(), belongs(process, to: run),
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

    /// Of a process that has ended nothing can be read any more.
    private static func belongs(_ process: Int32, to run: String) -> Bool {
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
