package import Basics

/// Makes what a step wrote safe to show: whole lines, each behind a mark, and nothing that a terminal would obey.
///
/// Printable text and tabs pass. Colours (SGR) pass where they are wanted and are dropped elsewhere; they never reach
/// beyond their line, so that the mark before the next one cannot be hidden. "Erase to the end of the line", which
/// compilers write after each colour, is dropped. Every other control character is shown (`\x1b`), a lone carriage
/// return is a line break, ill-formed UTF-8 becomes U+FFFD. Where the input is cut into chunks makes no difference.
package struct OutputSanitizer {
    private let mark: [UInt8]
    /// A line feed and the mark of the line behind it.
    private let lineEnd: [UInt8]
    private let keepsColors: Bool
    private var isAtLineStart = true
    private var followsCarriageReturn = false
    /// The start of an escape sequence or of a scalar whose rest has not come yet; never longer than one sequence.
    private var held: [UInt8] = []
    /// The colours in force, as the sequences that set them.
    private var colors: [UInt8] = []

    /// `mark` stands before every line, as it is.
    package init(mark: String, keepsColors: Bool) {
        self.mark = Array(mark.utf8)
        lineEnd = [UInt8(ascii: "\n")] + self.mark
        self.keepsColors = keepsColors
    }

    /// How much to make harmless at a time, so that it becomes no more than 256 KiB: a mark before each of many empty
    /// lines is much longer than the lines.
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

    /// Ends the last line, and with it every colour; afterwards the sanitizer is as new.
    package mutating func finish(to output: inout ByteBuffer) {
        let sequence = held
        _ = sequence.withUnsafeBytes { convert($0, to: &output, isLast: true) }
        if !isAtLineStart { breakLine(&output) }
        held.removeAll()
        colors.removeAll()
        followsCarriageReturn = false
    }

    /// Returns how many bytes it has used: all of them, unless a sequence is cut off at the end of what is not the
    /// last.
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

    /// Copies lines that need no care beside their marks, from a line feed on; returns where it stops. Most output is
    /// made of such lines. Does nothing where the state or the few bytes that are left ask for more care.
    private mutating func copyLines(
        _ input: UnsafeRawBufferPointer, from start: Int, to output: inout ByteBuffer
    ) -> Int {
        guard colors.isEmpty, !followsCarriageReturn else { return start }
        if isAtLineStart { output.append(mark) }
        let end = lineEnd.withUnsafeBytes { output.copyLines(input, from: start, lineEnd: $0) }
        if end > start { isAtLineStart = input[end - 1] == UInt8(ascii: "\n") }
        // Whether another line follows is not known yet.
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
        // Some programs only ever add; what is kept must not grow with them.
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
