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

    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

extension Int {
    /// `1 step`, `2 steps`.
    func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension Duration {
    /// As a workflow file writes it: `1h30m`, `90ms`; parts that are 0 are left out.
    var asWritten: String {
        let (seconds, attoseconds) = components
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s"),
            (attoseconds / 1_000_000_000_000_000, "ms"),
        ]
        let text = parts.filter { $0.0 > 0 }.map { "\($0.0)\($0.1)" }.joined()
        return text.isEmpty ? "0s" : text
    }
}
