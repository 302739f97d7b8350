import FlowrunTestSupport
import RunLog

/// A terminal that several write to.
final class Screen: RecordSink {
    private(set) var writes = 0
    private(set) var terminal: TerminalScreen
    /// How many bytes of an offer it takes.
    var appetite = Int.max

    init(columns: Int = 60, rows: Int = 24) {
        terminal = TerminalScreen(columns: columns, rows: rows)
    }

    var size: TerminalSize { TerminalSize(columns: terminal.columns, rows: terminal.rows) }

    /// Everything that was shown and is still there, without empty rows at the end.
    var text: [String] { terminal.text }

    func write(_ record: UnsafeRawBufferPointer) {
        writes += 1
        // The terminal driver adds the carriage return.
        terminal.feed(record.flatMap { $0 == UInt8(ascii: "\n") ? [13, 10] : [$0] })
    }

    func offer(_ record: UnsafeRawBufferPointer) -> Int {
        let taken = min(appetite, record.count)
        if taken > 0 { write(UnsafeRawBufferPointer(rebasing: record.prefix(taken))) }
        return taken
    }

    /// What another program writes.
    func write(foreign text: String) { Array(text.utf8).withUnsafeBytes(write) }

    func resize(columns: Int, rows: Int) { terminal.resize(columns: columns, rows: rows) }
}
