/// The width of text on a terminal, estimated: one column for ASCII, two for every other scalar, so that a line of any
/// script is rather cut too short than broken in two.
enum TerminalLine {
    static func columns(of line: [UInt8]) -> Int {
        line.reduce(0) { $0 + columns(of: $1) }
    }

    /// The start of `line` that fits into `columns`; well-formed UTF-8 stays so.
    static func cut(_ line: [UInt8], to columns: Int) -> [UInt8] {
        var used = 0
        for (offset, byte) in line.enumerated() {
            used += self.columns(of: byte)
            if used > columns { return Array(line[..<offset]) }
        }
        return line
    }

    /// The columns of the scalar that the byte begins; none for the bytes that continue it.
    private static func columns(of byte: UInt8) -> Int {
        byte < 0x80 ? 1 : byte < 0xC0 ? 0 : 2
    }
}
