package import Basics
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

/// The processes of a run that is not this one, wherever they have gone.
@EventLoopActor
package struct RunProcesses {
    /// The run's part of its marks; nil if unknown.
    private let mark: UInt64?
    private let isKnown: (Int32) throws(SystemError) -> Bool

    /// `isKnown` returns true if a process without a mark of the run belongs to it all the same.
    package init(mark: UInt64?, orWhere isKnown: @escaping (Int32) throws(SystemError) -> Bool) {
        self.mark = mark
        self.isKnown = isKnown
    }

    /// Returns the living processes that may not outlive the run, without those of this flowrun, in case a step of
    /// the same run started it. Throws if the machine does not let flowrun look: an empty list needs proof.
    package func find() throws(SystemError) -> [Int32] {
        var found: [Int32] = []
        try ProcessTable.forEachProcess { pid throws(SystemError) in
            if !Guard.isFlowrun(pid), try contains(pid) { found.append(pid) }
        }
        return found
    }

    /// Kills a process if flowrun may. It may have ended since it was found, and its number be another's, so it is
    /// checked again once its pidfd is open.
    package func kill(_ pid: Int32) throws(SystemError) {
        let descriptor = clinux_pidfd_open(pid)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        if try contains(pid) { _ = clinux_pidfd_send_signal(descriptor, SIGKILL) }
    }

    /// Kills all processes that have the run's mark, including those that fork and end faster than a look takes, and
    /// waits until they are dead.
    package func endMarked() {
        if let mark { clinux_end_marked(mark << UInt64(CLINUX_MARK_RUN), getpgrp(), Self.killWindow) }
    }

    /// The longest wait, in seconds; only a process that hangs in the kernel takes longer.
    private static let killWindow = 10.0

    private func contains(_ pid: Int32) throws(SystemError) -> Bool {
        switch ProcessMark.of(pid) {
        case .gone: return false
        case .mark(let found) where found.mayOutliveRun: return false
        case .mark(let found) where found.run == mark: return try isAlive(pid)
        // Another user's, on a system where /proc hides those (hidepid): it might as well not be listed there at all.
        case .unknown(let error) where [EPERM, EACCES].contains(error.number): return false
        case .unknown(let error) where mark != nil: throw error
        case .mark, .unmarked, .unknown: return try isKnown(pid)
        }
    }

    /// A zombie keeps its mark until it is reaped.
    private func isAlive(_ pid: Int32) throws(SystemError) -> Bool {
        switch ProcessTable.read(pid) {
        case .entry: return true
        case .gone: return false
        case .unknown(let error): throw error
        }
    }
}
