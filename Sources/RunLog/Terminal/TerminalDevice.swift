internal import Basics
internal import Glibc

/// Properties of a file descriptor's terminal.
package enum TerminalDevice {
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// True if another program reads the output before it is shown, if it is shown at all.
    package static func isPipe(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFIFO || status.st_mode & S_IFMT == S_IFSOCK
    }

    /// True if both descriptors are of the same terminal.
    package static func isSame(_ left: Int32, _ right: Int32) -> Bool {
        var first = stat()
        var second = stat()
        guard isTerminal(left), isTerminal(right), fstat(left, &first) == 0, fstat(right, &second) == 0 else {
            return false
        }
        return first.st_rdev == second.st_rdev
    }

    /// Returns the size of the terminal; 80 columns and 24 rows if unknown.
    package static func size(of descriptor: Int32) -> TerminalSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return TerminalSize(columns: 80, rows: 24)
        }
        return TerminalSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    /// True if the terminal belongs to the shell or another job at present, so that this process should not use it.
    package static func isInBackground(of descriptor: Int32) -> Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground > 0 && foreground != getpgrp()
    }
}

/// Lines below the cursor, as bytes for a terminal.
///
/// The cursor is where the next line of the log goes, and temporary lines are below it. Output of other programs
/// moves the cursor down first, so it is never below the cursor. Clearing from the row under the cursor to the end of
/// the screen therefore removes only our own lines. This holds after a resize too, and needs no query for the
/// cursor's position.
enum TerminalSequence {
    /// Replaces everything below the cursor by `lines`, each narrower than the terminal.
    static func show(_ lines: [[UInt8]]) -> [UInt8] {
        // Synchronized update: terminals that support it show the change at once, others ignore it.
        var bytes = Array("\u{1B}[?2026h".utf8)
        // Index moves down in the same column and scrolls at the bottom, so that there are enough rows afterwards.
        for _ in lines { bytes += index }
        bytes += "\u{1B}[\(lines.count)A\u{1B}7\r\n\u{1B}[J".utf8
        bytes += lines.joined(separator: "\r\n".utf8)
        bytes += "\u{1B}8\u{1B}[?2026l".utf8
        return bytes
    }

    /// Clears everything below the cursor.
    static let clear = index + Array("\u{1B}[2K\u{1B}[J\u{1B}[A".utf8)

    /// Clears before a line of the log: the Enter key may have moved the cursor onto one of our lines, whose rest
    /// would follow that of the log.
    static let clearForLine = clear + Array("\u{1B}[K".utf8)

    /// Recovers from an incomplete drawing: ends a sequence that may be unfinished, and continues below the rest.
    static let recover = Array("\u{18}\u{1B}[?2026l\r\n".utf8)

    private static let index = Array("\u{1B}D".utf8)
}

/// The estimated width of text on a terminal: one column for ASCII, two for every other scalar. A line of any script
/// is rather cut too short than broken in two.
enum TerminalLine {
    static func columns(of line: [UInt8]) -> Int {
        line.reduce(0) { $0 + columns(of: $1) }
    }

    /// Returns the start of `line` that fits into `columns`; well-formed UTF-8 remains well-formed.
    static func cut(_ line: [UInt8], to columns: Int) -> [UInt8] {
        var used = 0
        for (offset, byte) in line.enumerated() {
            used += self.columns(of: byte)
            if used > columns { return Array(line[..<offset]) }
        }
        return line
    }

    /// The columns of the scalar that begins with this byte; 0 for its other bytes.
    private static func columns(of byte: UInt8) -> Int {
        byte < 0x80 ? 1 : byte < 0xC0 ? 0 : 2
    }
}

/// The number of columns and rows of a terminal.
package struct TerminalSize: Sendable, Equatable {
    package var columns: Int
    package var rows: Int

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
    }
}

/// The user's choice of colours, `--color`.
package enum ColorMode: String, Sendable, CaseIterable {
    case auto, always, never

    /// The stream that the colours would go to.
    package enum Stream: Sendable {
        case stdout, stderr
    }

    /// True if colours are written. In this order decide: the flag; NO_COLOR; FORCE_COLOR and CLICOLOR_FORCE; TERM if
    /// unset or `dumb`, and CLICOLOR=0; make -O, which has the terminal and passes it as MAKE_TERMOUT or
    /// MAKE_TERMERR; last `onTerminal`. `environment` looks a variable up.
    package func isOn(for stream: Stream, onTerminal: Bool, environment: (String) -> String?) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        func value(_ name: String) -> String? {
            environment(name).flatMap { $0.isEmpty ? nil : $0 }
        }
        if value("NO_COLOR") != nil { return false }
        for name in ["FORCE_COLOR", "CLICOLOR_FORCE"] {
            if let value = value(name), value != "0" { return true }
        }
        guard let terminal = value("TERM"), terminal != "dumb", value("CLICOLOR") != "0" else { return false }
        if value(stream == .stdout ? "MAKE_TERMOUT" : "MAKE_TERMERR") != nil { return true }
        return onTerminal
    }
}

/// The user's choice of progress display, `--progress`; always on standard error, and independent of colours.
package enum ProgressMode: String, Sendable, CaseIterable {
    case auto, live, plain, none

    package enum Display: Sendable {
        /// `LiveRegion`.
        case live
        /// `Heartbeat`.
        case heartbeat
        case nothing
    }

    /// Returns the display for a terminal. A live region requires a terminal that can move its cursor. Unless asked
    /// for, it also requires that no other program writes there: no CI system that imitates a terminal, and no
    /// parallel make. `environment` looks a variable up.
    package func display(onTerminal: Bool, environment: (String) -> String?) -> Display {
        func isSet(_ name: String) -> Bool { !(environment(name) ?? "").isEmpty }
        let canMoveCursor = onTerminal && isSet("TERM") && environment("TERM") != "dumb"
        return switch self {
        case .none: .nothing
        case .plain: .heartbeat
        case .live: canMoveCursor ? .live : .heartbeat
        case .auto: canMoveCursor && !isSet("CI") && !isSet("MAKELEVEL") ? .live : .heartbeat
        }
    }
}
