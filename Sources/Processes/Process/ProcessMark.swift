internal import Basics
internal import CLinux
internal import Glibc

/// Identifies the command that a process belongs to. Every process inherits it, whatever it forks, executes or
/// becomes the leader of. It is made of a limit on real-time scheduling that no program uses and nothing ever
/// reaches.
struct ProcessMark: Hashable {
    let rawValue: UInt64

    /// The part that all marks of a run share.
    var run: UInt64 { rawValue >> UInt64(CLINUX_MARK_RUN) }

    /// True for the mark of processes that may outlive their run.
    var mayOutliveRun: Bool { rawValue & (1 << UInt64(CLINUX_MARK_RUN) - 1) == 0 }

    /// Lower for a flowrun inside a step of another.
    var level: UInt64 { rawValue >> UInt64(CLINUX_MARK_LEVEL) }

    /// Makes the mark of a run's command with this number; numbers beyond the mark's range wrap around. 0 is for
    /// processes that may outlive the run.
    init(run: UInt64, command: UInt64) {
        let commands = UInt64(1) << UInt64(CLINUX_MARK_RUN)
        rawValue = run << UInt64(CLINUX_MARK_RUN) | (command == 0 ? 0 : (command - 1) % (commands - 1) + 1)
    }

    init(rawValue: UInt64) { self.rawValue = rawValue }

    enum Reading: Equatable {
        case mark(ProcessMark)
        /// The process has no mark.
        case unmarked
        case gone
        /// The machine does not let flowrun look.
        case unknown(SystemError)
    }

    /// Returns the mark of a process, also of a zombie. One system call.
    @EventLoopActor
    static func of(_ pid: pid_t) -> Reading {
        var value: UInt64 = 0
        switch clinux_mark(pid, &value) {
        case 1: return .mark(ProcessMark(rawValue: value))
        case 0: return .unmarked
        case -ESRCH: return .gone
        // The program belongs to another user now.
        default: return inLimits(of: pid)
        }
    }

    /// Reads the mark from `/proc/PID/limits`, readable by every user unless other users' processes are hidden.
    @EventLoopActor
    private static func inLimits(of pid: pid_t) -> Reading {
        guard let text = ProcessTable.contents(of: "\(pid)/limits", capacity: 4096) else {
            // Even without the file the process may exist.
            let error = SystemError.last
            return kill(pid, 0) != 0 && errno == ESRCH ? .gone : .unknown(error)
        }
        let name = "Max realtime timeout"
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else {
            return .unknown(SystemError(ENODATA))
        }
        let fields = line.dropFirst(name.utf8.count).split(separator: " ")
        guard fields.count > 1, let value = UInt64(fields[1]) else { return .unmarked }
        let mark = ProcessMark(rawValue: value)
        return (1...63).contains(mark.level) ? .mark(mark) : .unmarked
    }
}
