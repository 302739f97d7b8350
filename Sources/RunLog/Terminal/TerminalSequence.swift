internal import Basics

/// Lines below the cursor, as bytes for a terminal.
///
/// The cursor stays where the next line of the log goes, and what is shown for a while stands below it. Whatever other
/// programs write moves the cursor down before it, so that there is never anything of theirs below: clearing from the
/// row under the cursor to the end of the screen takes away nothing but our own lines, however the terminal was resized
/// meanwhile, and no position has to be asked for.
enum TerminalSequence {
    /// Replaces all that stands below the cursor by `lines`, each narrower than the terminal.
    static func show(_ lines: [[UInt8]]) -> [UInt8] {
        // Synchronized update: a terminal that knows it shows the change at once, others ignore it.
        var bytes = Array("\u{1B}[?2026h".utf8)
        // Index moves down in the same column and scrolls at the bottom: afterwards there are rows enough.
        for _ in lines { bytes += index }
        bytes += "\u{1B}[\(lines.count)A\u{1B}7\r\n\u{1B}[J".utf8
        bytes += lines.joined(separator: "\r\n".utf8)
        bytes += "\u{1B}8\u{1B}[?2026l".utf8
        return bytes
    }

    /// Takes away all that stands below the cursor.
    static let clear = index + Array("\u{1B}[2K\u{1B}[J\u{1B}[A".utf8)

    /// The same before a line of the log: the Enter key moves the cursor onto one of our lines, whose rest would stand
    /// behind that of the log.
    static let clearForLine = clear + Array("\u{1B}[K".utf8)

    /// After a drawing that was cut off: ends a sequence that may be unfinished, and goes on below whatever is there.
    static let recover = Array("\u{18}\u{1B}[?2026l\r\n".utf8)

    private static let index = Array("\u{1B}D".utf8)
}
