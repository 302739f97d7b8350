/// A terminal as far as flowrun and shells use one: a grid of cells with the rows that have scrolled out of it.
///
/// What a program writes is obeyed as an xterm does it; a sequence that is not known here stands in the text as `␛`, so
/// that a test sees it.
package struct TerminalScreen: Sendable {
    package private(set) var columns: Int
    /// The rows that have left the screen at the top, oldest first.
    package private(set) var history: [String] = []
    /// What the program asked the terminal and wants answered, such as the position of the cursor.
    package private(set) var answers: [UInt8] = []
    private var grid: [[Character]]
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)
    /// The start of a sequence, or of a scalar, whose rest has not come yet.
    private var pending: [UInt8] = []

    package init(columns: Int, rows: Int) {
        self.columns = columns
        grid = Array(repeating: [], count: rows)
    }

    package var rows: Int { grid.count }

    /// The rows on the screen without the blanks at their ends.
    package var lines: [String] { grid.map(Self.text) }

    /// Everything that was ever shown and is still there, without the empty rows at the end.
    package var text: [String] {
        var all = history + lines
        while all.last == "" { all.removeLast() }
        return all
    }

    private static func text(_ row: [Character]) -> String {
        var row = row[...]
        while row.last == " " { row.removeLast() }
        return String(row)
    }

    package mutating func takeAnswers() -> [UInt8] {
        defer { answers = [] }
        return answers
    }

    /// Rows below the cursor are dropped first where it gets lower, then rows at the top scroll out; as tmux does it.
    /// Where it gets narrower, longer rows are cut, as xterm does it.
    package mutating func resize(columns: Int, rows: Int) {
        while grid.count > rows, row < grid.count - 1 { grid.removeLast() }
        while grid.count > rows {
            history.append(Self.text(grid.removeFirst()))
            row -= 1
        }
        while grid.count < rows { grid.append([]) }
        self.columns = columns
        for index in grid.indices { grid[index] = Array(grid[index].prefix(columns)) }
        column = min(column, columns - 1)
    }

    package mutating func feed(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { feed(byte) }
    }

    private mutating func feed(_ byte: UInt8) {
        if byte == 0x18 {
            pending = []
        } else if pending.isEmpty, byte < 0x80, byte != 0x1B {
            take(byte)
        } else {
            pending.append(byte)
            if pending[0] == 0x1B {
                if isWholeSequence { obeyPending() }
            } else if let text = String(validating: pending, as: UTF8.self) {
                pending = []
                text.forEach { put($0) }
            } else if pending.count > 4 {
                pending = []
            }
        }
    }

    private var isWholeSequence: Bool {
        guard pending.count > 1, let last = pending.last else { return false }
        switch pending[1] {
        case UInt8(ascii: "["): return pending.count > 2 && (0x40...0x7E).contains(last)
        // A title and the like ends with BEL or ST.
        case UInt8(ascii: "]"), UInt8(ascii: "P"):
            return last == 7 || pending.count > 3 && pending.suffix(2).elementsEqual([0x1B, UInt8(ascii: "\\")])
        case UInt8(ascii: "("), UInt8(ascii: ")"): return pending.count > 2
        default: return true
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\n"): moveDown()
        case UInt8(ascii: "\r"): column = 0
        case 8: column = max(0, min(column, columns - 1) - 1)
        case UInt8(ascii: "\t"): column = min(columns - 1, (column / 8 + 1) * 8)
        case 0x20...0x7E: put(Character(Unicode.Scalar(byte)))
        default: break
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            moveDown()
            column = 0
        }
        pad(to: column)
        if column < grid[row].count { grid[row][column] = character } else { grid[row].append(character) }
        column += 1
    }

    private mutating func pad(to column: Int) {
        while grid[row].count < column { grid[row].append(" ") }
    }

    private mutating func moveDown() {
        if row == grid.count - 1 {
            history.append(Self.text(grid.removeFirst()))
            grid.append([])
        } else {
            row += 1
        }
    }

    private mutating func obeyPending() {
        let sequence = String(decoding: pending.dropFirst(), as: UTF8.self)
        pending = []
        switch sequence {
        case "D": return moveDown()
        case "7": return saved = (row, column)
        case "8": return (row, column) = (min(saved.row, grid.count - 1), saved.column)
        case let text where !text.hasPrefix("["): return
        default: break
        }
        let command = sequence.last!
        let parameters = sequence.dropFirst().dropLast()
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        let count = max(1, numbers.first ?? 1)
        let cell = min(column, columns - 1)
        switch (command, parameters) {
        case ("A", _): (row, column) = (max(0, row - count), cell)
        case ("B", _): (row, column) = (min(grid.count - 1, row + count), cell)
        case ("C", _): column = min(columns - 1, cell + count)
        case ("D", _): column = max(0, cell - count)
        case ("G", _): column = min(columns, count) - 1
        case ("H", _): (row, column) = (min(grid.count, count) - 1, min(columns, max(1, numbers.last ?? 1)) - 1)
        case ("K", ""), ("K", "0"): grid[row] = Array(grid[row].prefix(column))
        case ("K", "2"): grid[row] = []
        case ("K", "1"):
            for index in 0..<min(column + 1, grid[row].count) { grid[row][index] = " " }
        case ("J", ""), ("J", "0"):
            grid[row] = Array(grid[row].prefix(column))
            for index in grid.indices where index > row { grid[index] = [] }
        case ("J", "2"):
            for index in grid.indices { grid[index] = [] }
        case ("P", _):
            if column < grid[row].count { grid[row].removeSubrange(column..<min(grid[row].count, column + count)) }
        case ("@", _):
            if column < grid[row].count {
                grid[row].insert(contentsOf: Array(repeating: " ", count: count), at: column)
            }
        case ("n", "6"): answers += "\u{1B}[\(row + 1);\(cell + 1)R".utf8
        case ("c", ""), ("c", "0"): answers += "\u{1B}[?62;c".utf8
        // Colours, modes, the shape of the cursor, what fish asks about the keyboard.
        case ("m", _), ("h", _), ("l", _), ("q", _), ("u", _), ("t", _), ("c", _), ("n", _), ("p", _): break
        default: "␛\(sequence)".forEach { put($0) }
        }
    }
}
