extension [UInt8] {
    /// Appends a control character (C0, DEL or C1) in a form that can be read: `\x1b`.
    mutating func appendVisible(control: UInt32) {
        append(contentsOf: #"\x"#.utf8)
        appendHexadecimal(control, digits: 2)
    }
}
