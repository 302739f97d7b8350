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

    /// Columns; 80 where nobody knows.
    package static func width(of descriptor: Int32) -> Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
