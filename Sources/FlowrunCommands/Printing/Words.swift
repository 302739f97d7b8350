extension String {
    /// The first line, with control characters shown instead of obeyed: text from a file must not steer a terminal.
    var asOneLine: String {
        var line = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0A, 0x0D: return line
            case 0x09: line += " "
            case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: line += "\\u{\(String(scalar.value, radix: 16))}"
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    func indented(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Int {
    /// `1 step`, `2 steps`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
