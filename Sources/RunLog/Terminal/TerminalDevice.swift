internal import Glibc

/// What a file descriptor tells about the terminal behind it.
package enum TerminalDevice {
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Whether somebody else reads what is written here before it is shown, if it is shown at all.
    package static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFIFO || status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Whether both lead to one and the same terminal.
    package static func isSame(_ left: Int32, _ right: Int32) -> Bool {
        var first = stat()
        var second = stat()
        guard isTerminal(left), isTerminal(right), fstat(left, &first) == 0, fstat(right, &second) == 0 else {
            return false
        }
        return first.st_rdev == second.st_rdev
    }

    /// 80 columns and 24 rows where nobody knows.
    package static func size(of descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// Whether the terminal is the shell's or another job's at present, so that this process had better leave it alone.
    package static func isInBackground(of descriptor: Int32) -> Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground > 0 && foreground != getpgrp()
    }
}
