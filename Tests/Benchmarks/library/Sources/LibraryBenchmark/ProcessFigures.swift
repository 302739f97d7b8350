import Foundation

/// What the system says about this process.
enum ProcessFigures {
    /// Processor time of all threads.
    static var cpu: Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// The most memory that it has had at once, in bytes.
    static var peak: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return 1024 * (line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0)
    }
}
