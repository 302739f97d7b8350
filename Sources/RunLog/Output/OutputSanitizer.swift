package import Basics

/// Makes the output of a step safe to show: whole lines, each behind a mark, and nothing that a terminal would obey.
///
/// Printable text and tabs pass. Colours (SGR) pass if wanted and are dropped otherwise. They end with their line, so
/// that they cannot hide the next mark. "Erase to the end of the line", which compilers write after each colour, is
/// dropped. Every other control character is shown (`\x1b`), a lone carriage return is a line break, ill-formed UTF-8
/// becomes U+FFFD. The result does not depend on how the input is cut into pieces.
package struct OutputSanitizer {
    private let mark: [UInt8]
    /// A line feed and the mark of the next line.
    private let lineEnd: [UInt8]
    private let keepsColors: Bool
    private var isAtLineStart = true
    private var followsCarriageReturn = false
    /// An incomplete escape sequence or scalar; never longer than one sequence.
    private var held: [UInt8] = []
    /// The colours in force, as the sequences that set them.
    private var colors: [UInt8] = []

    /// `mark` is written unchanged before every line.
    package init(mark: String, keepsColors: Bool) {
        self.mark = Array(mark.utf8)
        lineEnd = [UInt8(ascii: "\n")] + self.mark
        self.keepsColors = keepsColors
    }

    /// The largest input of one call whose result is at most 256 KiB: the marks of many empty lines are much longer
    /// than the lines.
    var pieceSize: Int { min(64 << 10, (256 << 10) / max(lineEnd.count, 4)) }

    package mutating func append(_ input: UnsafeRawBufferPointer, to output: inout ByteBuffer) {
        var start = 0
        while !held.isEmpty, start < input.count {
            held.append(input[start])
            start += 1
            let sequence = held
            let consumed = sequence.withUnsafeBytes { convert($0, to: &output, isLast: false) }
            held.removeFirst(consumed)
        }
        let rest = UnsafeRawBufferPointer(rebasing: input[start...])
        let consumed = convert(rest, to: &output, isLast: false)
        held.append(contentsOf: rest[consumed...])
    }

    /// Ends the last line, and with it every colour; afterwards the sanitizer is in its initial state.
    package mutating func finish(to output: inout ByteBuffer) {
        let sequence = held
        _ = sequence.withUnsafeBytes { convert($0, to: &output, isLast: true) }
        if !isAtLineStart { breakLine(&output) }
        held.removeAll()
        colors.removeAll()
        followsCarriageReturn = false
    }

    /// Returns the number of bytes used: all of them, unless a sequence is incomplete at the end and more input
    /// follows.
    private mutating func convert(_ input: UnsafeRawBufferPointer, to output: inout ByteBuffer, isLast: Bool) -> Int {
        var offset = 0
        while offset < input.count {
            switch input[offset] {
            case 0x20..<0x7F:
                beginLine(&output)
                offset = output.copyPlain(input, from: offset, until: .unprintable)
            case UInt8(ascii: "\n"):
                let end = copyLines(input, from: offset, to: &output)
                if end > offset {
                    offset = end
                    continue
                }
                if !followsCarriageReturn { breakLine(&output) }
                followsCarriageReturn = false
                offset += 1
            case UInt8(ascii: "\r"):
                breakLine(&output)
                followsCarriageReturn = true
                offset += 1
            case UInt8(ascii: "\t"):
                beginLine(&output)
                output.append(UInt8(ascii: "\t"))
                offset += 1
            case 0x1B:
                switch EscapeSequence(in: input, at: offset) {
                case .incomplete where !isLast: return offset
                case .color(let length):
                    if keepsColors { apply(input[offset..<offset + length], to: &output) }
                    offset += length
                case .eraseToLineEnd(let length): offset += length
                case .incomplete, .other:
                    show(0x1B, in: &output)
                    offset += 1
                }
            case let byte where byte < 0x80:
                show(UInt32(byte), in: &output)
                offset += 1
            default:
                if UTF8Sequence.lengthOfText(UTF8Sequence.word(of: input, at: offset)) > 0 {
                    beginLine(&output)
                    offset = output.copyScalars(input, from: offset)
                    continue
                }
                let sequence = UTF8Sequence(in: input, at: offset)
                if case .incomplete = sequence, !isLast { return offset }
                if case .scalar(let control, _) = sequence {
                    show(control, in: &output)
                } else {
                    beginLine(&output)
                    output.append(literal: UTF8Sequence.replacement)
                }
                offset += sequence.length
            }
        }
        return offset
    }

    /// Copies plain lines with their marks, from a line feed on, and returns the offset at which it stops. Most
    /// output is made of such lines. Does nothing if the state requires more care or only a few bytes are left.
    private mutating func copyLines(
        _ input: UnsafeRawBufferPointer, from start: Int, to output: inout ByteBuffer
    ) -> Int {
        guard colors.isEmpty, !followsCarriageReturn else { return start }
        if isAtLineStart { output.append(mark) }
        let end = lineEnd.withUnsafeBytes { output.copyLines(input, from: start, lineEnd: $0) }
        if end > start { isAtLineStart = input[end - 1] == UInt8(ascii: "\n") }
        // It is not known yet that another line follows.
        if isAtLineStart { output.removeLast(mark.count) }
        return end
    }

    private mutating func show(_ control: UInt32, in output: inout ByteBuffer) {
        beginLine(&output)
        output.append(escaped: control)
    }

    private mutating func apply(_ sequence: Slice<UnsafeRawBufferPointer>, to output: inout ByteBuffer) {
        beginLine(&output)
        output.append(UnsafeRawBufferPointer(rebasing: sequence))
        let parameters = sequence.dropFirst(2).dropLast()
        let resets = parameters.first == nil || parameters.first == UInt8(ascii: "0")
        // Some programs never reset colours; the list must not grow with each one.
        if resets || colors.count + sequence.count > 128 { colors.removeAll() }
        if parameters.contains(where: { $0 != UInt8(ascii: "0") }) { colors.append(contentsOf: sequence) }
    }

    @inline(__always)
    private mutating func beginLine(_ output: inout ByteBuffer) {
        followsCarriageReturn = false
        if isAtLineStart { writeMark(&output) }
    }

    private mutating func writeMark(_ output: inout ByteBuffer) {
        output.append(mark)
        if !colors.isEmpty { output.append(colors) }
        isAtLineStart = false
    }

    private mutating func breakLine(_ output: inout ByteBuffer) {
        if isAtLineStart { output.append(mark) }
        if !colors.isEmpty { output.append(literal: "\u{1B}[0m") }
        output.append(UInt8(ascii: "\n"))
        isAtLineStart = true
    }
}

/// The sequence that begins with an ESC, as far as needed to recognize the harmless ones.
enum EscapeSequence: Equatable {
    /// SGR, `ESC [ 1;31 m`.
    case color(length: Int)
    /// EL: `ESC [ K`, which has no effect at the end of a line, or `ESC [ 2 K`, which programs write before they
    /// rewrite a line.
    case eraseToLineEnd(length: Int)
    /// The bytes end before it is decided.
    case incomplete
    case other

    /// Longer sequences than any real colour do not count as colours, so that little has to be held back.
    private static let maximumLength = 64

    /// `offset` is that of an ESC.
    init(in bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard offset + 1 < bytes.count else {
            self = .incomplete
            return
        }
        guard bytes[offset + 1] == UInt8(ascii: "[") else {
            self = .other
            return
        }
        var end = offset + 2
        while end < bytes.count, Self.isParameter(bytes[end]), end - offset < Self.maximumLength { end += 1 }
        let length = end - offset + 1
        if end == bytes.count {
            self = .incomplete
        } else if bytes[end] == UInt8(ascii: "m") {
            self = .color(length: length)
        } else if bytes[end] == UInt8(ascii: "K"), length == 3 || length == 4 && "02".utf8.contains(bytes[end - 1]) {
            self = .eraseToLineEnd(length: length)
        } else {
            self = .other
        }
    }

    private static func isParameter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: ";")).contains(byte)
    }
}
