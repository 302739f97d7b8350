import RunEvents

/// A terminal as far as flowrun uses one: text, line ends, cursor up, clear to the end. Lines longer than the width go on
/// in the next row, as on a real one.
final class Screen: RecordSink {
    private(set) var writes = 0
    private let width: Int
    private var rows: [[Character]] = [[]]
    private var row = 0
    private var column = 0

    init(width: Int) {
        self.width = width
    }

    var lines: [String] { rows.map { String($0) } }

    func write(_ record: UnsafeRawBufferPointer) {
        writes += 1
        var text = Substring(String(decoding: record, as: UTF8.self))
        while let character = text.first {
            if text.hasPrefix("\u{1B}[") {
                text = text.dropFirst(2)
                let parameters = text.prefix { !$0.isLetter }
                text = text.dropFirst(parameters.count)
                obey(text.removeFirst(), String(parameters))
                continue
            }
            text = text.dropFirst()
            switch character {
            case "\r\n":
                newRow()
                column = 0
            case "\n":
                // The terminal driver adds the carriage return.
                newRow()
                column = 0
            case "\r": column = 0
            default:
                if column == width {
                    newRow()
                    column = 0
                }
                if rows[row].count > column { rows[row][column] = character } else { rows[row].append(character) }
                column += 1
            }
        }
    }

    private func newRow() {
        row += 1
        if row == rows.count { rows.append([]) }
    }

    private func obey(_ command: Character, _ parameters: String) {
        switch (command, parameters) {
        case ("A", _): row = max(0, row - (Int(parameters) ?? 1))
        case ("J", ""):
            rows.removeSubrange((row + 1)...)
            rows[row].removeSubrange(min(column, rows[row].count)...)
        case ("h", "?2026"), ("l", "?2026"): break
        default: rows[row].append(contentsOf: "?\(parameters)\(command)")
        }
    }
}
