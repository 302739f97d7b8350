internal import CLinux
internal import Glibc

/// Starts commands: real processes in a run, made-up ones in a test that has its own time.
@EventLoopActor
package protocol Spawner {
    /// Starts a command and returns at once; everything that happens to it is reported to `observer`, never during
    /// this call. Throws if the machine gives no process, which may change a moment later. A program that turns out
    /// not to be one ends with `notStarted`.
    func start(_ command: ProcessCommand, for observer: any ProcessObserver) throws(SpawnError) -> any RunningProcess
}

/// A command that has been started and has not ended: one process and its descendants.
@EventLoopActor
package protocol RunningProcess: AnyObject, Sendable {
    /// Of the first process.
    var pid: Int32 { get }
    /// True once its end has been requested.
    var isStopping: Bool { get }

    /// Ends the command: sends `signal` and CONT to all its processes, and KILL to what is left after `grace`. The
    /// first call counts, later ones are ignored.
    func terminate(with signal: Int32, grace: Duration)
    /// Ends the command without any grace.
    func killAll()
    /// Stops all processes until `thaw`; a grace and the drain window are paused too. Does nothing to a command that
    /// is being killed. Ending a frozen command thaws it.
    func freeze()
    /// Continues a frozen command; does nothing to any other.
    func thaw()
}

/// Receives what happens to a command.
@EventLoopActor
package protocol ProcessObserver: AnyObject {
    /// Asked before each read; while false, the command has to wait with its output.
    var mayTakeOutput: Bool { get }
    /// The bytes are valid during the call only.
    func process(wrote bytes: UnsafeRawBufferPointer, to stream: OutputStream)
    /// The first process has ended, perhaps before it became the requested program; others may live.
    func process(exited status: ProcessEnding.Status)
    /// The first process has ended by itself and something of the command goes on.
    func processLingers()
    /// The first process was stopped, not by flowrun. Reported only for a command that has the terminal.
    func process(stopped signal: Int32)
    /// A signal has been sent to all processes of the command.
    func process(sent signal: Int32)
    /// Nothing of the command is left. The last call; the process forgets its observer.
    func process(ended ending: ProcessEnding)
}

extension ProcessObserver {
    package func process(stopped signal: Int32) {}
}

/// Starts processes of this machine.
@EventLoopActor
package final class ProcessSpawner: Spawner {
    package static let shared = ProcessSpawner()

    private var slots: [SpawnSlot] = []
    private var abandoned: [SpawnSlot] = []
    private var nullDevice: Int32 = -1
    /// The number of slots kept for the next starts; more are in use at once only for a moment.
    private static let keptSlots = 64

    private init() {}

    package func start(
        _ command: ProcessCommand, for observer: any ProcessObserver
    ) throws(SpawnError) -> any RunningProcess {
        if nullDevice < 0 {
            nullDevice = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard nullDevice >= 0 else { throw SpawnError(errno: errno) }
        }
        return try ChildProcess(command, input: nullDevice, slot: takeSlot(), observer: observer)
    }

    /// Makes every open descriptor close-on-exec, inherited ones included, and promises that later ones are opened
    /// so, as flowrun does. Then no child has to close anything.
    package func closeAllOnExec() { clinux_close_all_on_exec() }

    private func takeSlot() throws(SpawnError) -> SpawnSlot {
        if let slot = slots.popLast() { return slot }
        return try SpawnSlot()
    }

    /// Keeps for good the slot of a child that does not even end by KILL: it may still use it.
    func abandon(_ slot: SpawnSlot) { abandoned.append(slot) }

    /// Takes back a slot whose child has been reaped, or was never made.
    func giveBack(_ slot: SpawnSlot) {
        slot.clear()
        if slots.count < Self.keptSlots { slots.append(slot) }
    }
}
