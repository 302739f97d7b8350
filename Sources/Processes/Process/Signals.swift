internal import CLinux
internal import Glibc

/// Signals to flowrun itself, as events of the loop.
@EventLoopActor
package enum Signals {
    /// The signals that a new process gets the default action for: those ignored here, by flowrun or by its parent.
    /// Signal n is bit n - 1.
    static var defaulted: UInt64 = 0
    private static var descriptor: Int32 = -1
    private static var tally = SignalTally()
    private static var handler: @EventLoopActor (Int32) -> Void = { _ in }

    /// True for signals that end other programs and ask a run to end; flowrun dies by the one it got once nothing of
    /// the run is left.
    private static func isEnding(_ number: Int32) -> Bool {
        switch number {
        case SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGUSR1, SIGUSR2, SIGIO, SIGPWR,
            SIGSTKFLT:
            true
        default: number >= __libc_current_sigrtmin() && number <= __libc_current_sigrtmax()
        }
    }

    /// Receives the signals that end a program, TSTP and WINCH, and calls `handler` with the number of each that
    /// arrives. Called once, before any process is started. All but INT and TERM stay ignored if the parent ignored
    /// them: that is what nohup is for, and what a shell without job control asks. PIPE and XFSZ are ignored. CHLD
    /// gets its default, or children could not be waited for. Signals that report a fault end flowrun as they end any
    /// program.
    package static func take(_ handler: @escaping @EventLoopActor (Int32) -> Void) {
        let ignored = clinux_ignored_signals()
        defaulted = ignored
        // Both are errors of a write here, and deadly for a step: a reader that went away, a file that grew too
        // large.
        defaulted |= bit(SIGPIPE) | bit(SIGXFSZ)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)

        var taken = sigset_t()
        sigemptyset(&taken)
        for number in 1...__libc_current_sigrtmax() {
            let isTaken =
                switch number {
                // CONT has already had its effect; the runner handles it because the guard may not have got it.
                case SIGINT, SIGTERM, SIGWINCH, SIGCONT: true
                default: (isEnding(number) || number == SIGTSTP) && ignored & bit(number) == 0
                }
            if isTaken { sigaddset(&taken, number) }
        }
        // Whatever else the parent blocked is unblocked; CHLD is blocked for a `StopWatch`.
        var blocked = taken
        sigaddset(&blocked, SIGCHLD)
        sigprocmask(SIG_SETMASK, &blocked, nil)
        descriptor = signalfd(-1, &taken, Int32(SFD_CLOEXEC) | Int32(SFD_NONBLOCK))
        guard descriptor >= 0 else { giveUp("watch for signals", errno) }
        self.handler = handler
        Poller.shared.watch(descriptor, for: .read) { hear() }
    }

    private static func bit(_ number: Int32) -> UInt64 { 1 << UInt64(number - 1) }

    /// Hands on the signals that have arrived so far, without waiting for the loop's next turn. Does nothing before
    /// `take`.
    package static func hear() {
        var info = signalfd_siginfo()
        while read(descriptor, &info, MemoryLayout<signalfd_siginfo>.size) == MemoryLayout<signalfd_siginfo>.size {
            guard info.ssi_signo != UInt32(SIGCONT) else {
                if info.ssi_pid != UInt32(Guard.startedProcess) { Guard.wake() }
                continue
            }
            let isForwarded = info.ssi_code == SI_QUEUE && info.ssi_pid == UInt32(Guard.startedProcess)
            let sender = info.ssi_code == SI_KERNEL ? 0 : isForwarded ? info.ssi_int : Int32(info.ssi_pid)
            guard tally.isNew(Int32(info.ssi_signo), from: sender, isForwarded: isForwarded) else { continue }
            handler(Int32(info.ssi_signo))
        }
    }

    /// Stops flowrun, as TSTP does to other programs; returns when it continues. Uses STOP, because the kernel
    /// ignores TSTP in an orphaned process group, and this thread, so that it has happened when this returns.
    package static func stop() {
        raise(SIGSTOP)
        Poller.shared.forgetTime()
    }

    /// Ends flowrun by a signal, so that its caller sees the true cause; returns only as PID 1, which no signal of
    /// its own can end. Leaves no core: nothing went wrong.
    package nonisolated static func die(by number: Int32) {
        var none = rlimit()
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        sigprocmask(SIG_UNBLOCK, &set, nil)
        kill(getpid(), number)
    }
}

/// Recognizes new signals. One that is sent to the process group arrives twice: by itself, and through the guard.
///
/// For each signal and sender the two ways are counted, and the larger count is how often it was sent. A signal to
/// the guard alone, or to the runner alone, therefore counts like one to both.
struct SignalTally {
    private struct Kind: Hashable {
        let signal: Int32
        let sender: Int32
    }

    private var counts: [Kind: (direct: Int, forwarded: Int)] = [:]

    /// Counts a signal that has arrived; returns true if it is one more than before. `sender` is 0 for the kernel.
    mutating func isNew(_ signal: Int32, from sender: Int32, isForwarded: Bool) -> Bool {
        var count = counts[Kind(signal: signal, sender: sender)] ?? (0, 0)
        let before = max(count.direct, count.forwarded)
        if isForwarded { count.forwarded += 1 } else { count.direct += 1 }
        counts[Kind(signal: signal, sender: sender)] = count
        return max(count.direct, count.forwarded) > before
    }
}
