package import Basics
internal import CLinux
internal import Glibc

/// The terminal that flowrun was started on. One command at a time has it for itself: its process group is the
/// terminal's foreground group, so that it reads what is typed and gets the signals of Ctrl-C and Ctrl-Z.
@EventLoopActor
package final class ControllingTerminal {
    let descriptor: Int32
    private let group = getpgrp()
    /// What it is to get back, while it is lent.
    private var ownModes: termios?
    /// The command that had it last, the group of it that was in the foreground, and the modes that it left; modes nil:
    /// it has not been taken back.
    private var borrower: (leader: pid_t, group: pid_t, modes: termios?)?

    /// Throws where flowrun has none (ENXIO), as in a daemon, a CI job or behind `setsid`.
    package init() throws(SystemError) {
        // By its own name where flowrun has it open: programs ask what their terminal is called.
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

    /// Whether flowrun may lend it: whether no other job of the shell has it.
    package var isForeground: Bool { tcgetpgrp(descriptor) == group }

    /// Whether somebody can bring flowrun to the foreground: a shell in the same session that is no part of this job.
    package var hasShell: Bool {
        var next = Guard.startedProcess
        while let entry = ProcessTable.entry(of: next), entry.group == group { next = entry.parent }
        return next > 0 && getsid(next) == getsid(0)
    }

    /// Calls `start`, which starts a command that takes the terminal, and returns its number.
    func lend(_ start: () -> pid_t) -> pid_t {
        noteModes()
        let pid = start()
        if pid > 0 { borrower = (pid, pid, nil) } else { takeBack() }
        return pid
    }

    /// Gives it to the one who had it last, in the modes that it was left in. Does nothing in the background.
    func lendAgain() {
        guard let borrower, isForeground else { return }
        noteModes()
        if tcsetpgrp(descriptor, borrower.group) != 0 { tcsetpgrp(descriptor, borrower.leader) }
        if var modes = borrower.modes { withoutStopping { tcsetattr(descriptor, TCSANOW, &modes) } }
    }

    /// Makes flowrun's group the foreground group again and restores the modes, unless a shell has done so. Does nothing
    /// if it is not lent.
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

    /// Whether a process group is the command's, or of one that is gone: a shell lives and has no mark of this run.
    private func isOfRun(_ foreground: pid_t) -> Bool {
        if foreground == borrower?.group { return true }
        return switch ProcessMark.of(foreground) {
        case .mark(let mark): mark.run == Containment.shared.run
        case .gone: true
        case .unmarked, .unknown: false
        }
    }

    /// Blocks the signal that stops a process in the background which changes its terminal.
    private func withoutStopping(_ body: () -> Void) {
        var (stopping, before) = (sigset_t(), sigset_t())
        sigemptyset(&stopping)
        sigaddset(&stopping, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &stopping, &before)
        body()
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
