/// The exit status of the program (flowrun(1), EXIT STATUS). A step's own status is in the log, never here.
package enum ExitStatus: Int32, Sendable, CaseIterable {
    case success = 0
    /// A step failed, timed out or was lost.
    case failure = 1
    /// The workflow is invalid.
    case invalid = 2
    /// Wrong usage; EX_USAGE of sysexits.h.
    case usage = 64
    /// The state directory is in use by a live run of the same workflow; EX_TEMPFAIL of sysexits.h.
    case inUse = 75
    /// The run's own timeout; the same number as timeout(1).
    case timeout = 124
    /// flowrun itself could not continue.
    case unable = 125
    /// `flowrun ctl cancel` ended the run; the status that a shell reports for an interrupt.
    case cancelled = 130
}
