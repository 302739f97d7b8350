package import Basics
internal import CLinux
internal import Glibc

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
