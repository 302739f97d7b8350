internal import Basics

/// A growing piece of the text log: flowrun's own words, with text from outside made harmless.
struct LogText: ~Copyable {
    enum Style {
        case success, failure, caution, faint, strong

        fileprivate var start: StaticString {
            switch self {
            case .success: "\u{1B}[32m"
            case .failure: "\u{1B}[31m"
            case .caution: "\u{1B}[33m"
            case .faint: "\u{1B}[2m"
            case .strong: "\u{1B}[1m"
            }
        }
    }

    private static let reset: StaticString = "\u{1B}[0m"

    var buffer = ByteBuffer()
    let isColored: Bool

    init(isColored: Bool) { self.isColored = isColored }

    var isEmpty: Bool { buffer.isEmpty }

    mutating func removeAll() { buffer.removeAll() }

    /// Appends text as a part of one line whatever it holds: control characters are shown, not obeyed.
    mutating func add(_ text: String) { buffer.append(visible: text) }

    mutating func add(_ text: String, _ style: Style) {
        guard isColored else { return add(text) }
        buffer.append(literal: style.start)
        add(text)
        buffer.append(literal: Self.reset)
    }

    /// Appends words of the program.
    mutating func add(literal text: StaticString) { buffer.append(literal: text) }

    mutating func spaces(_ count: Int) { buffer.append(repeating: UInt8(ascii: " "), count: count) }

    mutating func newline() { buffer.append(UInt8(ascii: "\n")) }

    /// What `body` writes without colours, at the right edge of a column.
    mutating func add(rightAlignedTo width: Int, _ style: Style? = nil, _ body: (inout ByteBuffer) -> Void) {
        let start = buffer.count
        let style = isColored ? style : nil
        if let style { buffer.append(literal: style.start) }
        let digits = buffer.count
        body(&buffer)
        let written = buffer.count - digits
        if style != nil { buffer.append(literal: Self.reset) }
        buffer.insert(repeating: UInt8(ascii: " "), count: width - written, at: start)
    }

    /// `a, b, c and 12 more`.
    mutating func add(list items: some Collection<String>, of total: Int? = nil, limit: Int = 8) {
        for (index, item) in items.prefix(limit).enumerated() {
            if index > 0 { add(literal: ", ") }
            add(item)
        }
        let more = (total ?? items.count) - min(items.count, limit)
        if more > 0 { add(" and \(more) more") }
    }
}
