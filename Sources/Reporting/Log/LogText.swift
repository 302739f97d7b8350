/// A growing piece of the text log: flowrun's own words, with text from outside made harmless.
struct LogText {
    enum Style: String {
        case success = "32"
        case failure = "31"
        case caution = "33"
        case faint = "2"
        case strong = "1"
    }

    var bytes: [UInt8] = []
    let isColored: Bool

    init(isColored: Bool) {
        self.isColored = isColored
        bytes.reserveCapacity(4096)
    }

    mutating func removeAll() {
        // One very long record must not keep its memory for the rest of the run.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 512 * 1024)
    }

    /// Appends text as one line whatever it holds: control characters are shown, not obeyed.
    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { text in
            let raw = UnsafeRawBufferPointer(text)
            var copied = 0
            var offset = 0
            while true {
                offset = PlainRun.endOfPrintable(in: raw, from: offset)
                guard offset < raw.count else { break }
                let sequence = UTF8Sequence(in: raw, at: offset)
                if case .scalar(let scalar, _) = sequence, scalar < 0xA0 || scalar == 0x2028 || scalar == 0x2029 {
                    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: raw[copied..<offset]))
                    if scalar > 0xFF { bytes.append(UInt8(ascii: " ")) } else { bytes.appendVisible(control: scalar) }
                    copied = offset + sequence.length
                }
                offset += sequence.length
            }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: raw[copied...]))
        }
    }

    mutating func add(_ text: String, _ style: Style) {
        guard isColored else { return add(text) }
        bytes.append(contentsOf: "\u{1B}[\(style.rawValue)m".utf8)
        add(text)
        bytes.append(contentsOf: "\u{1B}[0m".utf8)
    }

    mutating func add(_ number: Int) {
        bytes.appendDecimal(number.magnitude)
    }

    mutating func spaces(_ count: Int) {
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(0, count)))
    }

    mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
    }

    /// `a, b, c and 12 more`.
    mutating func add(list items: some Collection<String>, of total: Int? = nil, limit: Int = 8) {
        for (index, item) in items.prefix(limit).enumerated() {
            if index > 0 { add(", ") }
            add(item)
        }
        let more = (total ?? items.count) - min(items.count, limit)
        if more > 0 { add(" and \(more) more") }
    }
}
