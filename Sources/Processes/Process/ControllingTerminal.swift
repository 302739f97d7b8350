package import Basics
internal import CLinux
internal import Glibc

/// The terminal that flowrun was started on. One command at a time has it for itself: its process group is the
/// terminal's foreground group, so it reads what is typed and gets the signals of Ctrl-C and Ctrl-Z.
@EventLoopActor
package final class ControllingTerminal {
    let descriptor: Int32
    private let group = getpgrp()
    /// flowrun's own modes, to be restored after the loan; nil while it is not lent.
    private var ownModes: termios?
    /// The last command that had it, its process group that was in the foreground, and the modes that it left; modes
    /// are nil until it is taken back.
    private var borrower: (leader: pid_t, group: pid_t, modes: termios?)?

    /// Throws if flowrun has no terminal (ENXIO), as in a daemon, a CI job or under `setsid`.
    package init() throws(SystemError) {
        // Under its own name if flowrun has it open: programs ask for the name of their terminal.
        let names = (0...2).filter { isatty($0) == 1 }.map { "/proc/self/fd/\($0)" } + ["/dev/tty"]
        for name in names {
            let opened = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
            guard opened < 0 || tcgetpgrp(opened) < 0 else {
                descriptor = opened
                return
            }
            if opened >= 0 { close(opened) }
        }
        throw .last
    }

    deinit { close(descriptor) }

    /// True if flowrun may lend it: no other job of the shell has it.
    package var isForeground: Bool { tcgetpgrp(descriptor) == group }

    /// True if flowrun can be brought to the foreground: by a shell in the same session that is not part of this job.
    package var hasShell: Bool {
        var next = Guard.startedProcess
        while let entry = ProcessTable.entry(of: next), entry.group == group { next = entry.parent }
        return next > 0 && getsid(next) == getsid(0)
    }

    /// Calls `start`, which starts a command that takes the terminal. Returns the process number that `start`
    /// returns.
    func lend(_ start: () -> pid_t) -> pid_t {
        noteModes()
        let pid = start()
        if pid > 0 { borrower = (pid, pid, nil) } else { takeBack() }
        return pid
    }

    /// Lends it to the last borrower again, in the modes that it left. Does nothing in the background.
    func lendAgain() {
        guard let borrower, isForeground else { return }
        noteModes()
        if tcsetpgrp(descriptor, borrower.group) != 0 { tcsetpgrp(descriptor, borrower.leader) }
        if var modes = borrower.modes { withoutStopping { tcsetattr(descriptor, TCSANOW, &modes) } }
    }

    /// Makes flowrun's group the foreground group again and restores the modes, unless a shell has taken the
    /// terminal. Does nothing if it is not lent.
    func takeBack() {
        guard var modes = ownModes.take() else { return }
        clinux_note_terminal(nil)
        let foreground = tcgetpgrp(descriptor)
        guard foreground > 0, foreground == group || isOfRun(foreground) else { return }
        var left = termios()
        if foreground != group, tcgetattr(descriptor, &left) == 0 {
            borrower?.group = foreground
            borrower?.modes = left
        }
        withoutStopping {
            tcsetpgrp(descriptor, group)
            tcsetattr(descriptor, TCSANOW, &modes)
        }
    }

    private func noteModes() {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return }
        ownModes = modes
        clinux_note_terminal(&modes)
    }

    /// True if a process group is the command's, or its leader is gone: a shell lives and has no mark of this run.
    private func isOfRun(_ foreground: pid_t) -> Bool {
        if foreground == borrower?.group { return true }
        return switch ProcessMark.of(foreground) {
        case .mark(let mark): mark.run == Containment.shared.run
        case .gone: true
        case .unmarked, .unknown: false
        }
    }

    /// Runs `body` with SIGTTOU blocked, which stops a background process that changes its terminal.
    private func withoutStopping(_ body: () -> Void) {
        var (stopping, before) = (sigset_t(), sigset_t())
        sigemptyset(&stopping)
        sigaddset(&stopping, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &stopping, &before)
        body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
