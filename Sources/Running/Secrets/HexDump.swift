/// Finds forms of secrets in the columns of a hex dump, as `xxd` and `hexdump -C` draw it.
///
///     00000000: 746f 6b65 6e3d 6875 6e74 6572 3220 2226  token=hunter2 "&
///     00000010: 2f0a                                     /.
///
/// The digits of a form go on over blanks, and from line to line over the text beside them and the number in front.
/// Where a form ends, the rest of its line is hidden too, because its text is there.
struct HexDump: Sendable {
    /// The part of a line that has been reached.
    private enum Part {
        /// The number in front, with so many digits so far.
        case number(Int)
        /// After a number without a colon.
        case gap
        /// The columns, after so many blanks in a row.
        case columns(blanks: Int)
        case text
        /// The line does not belong to a dump.
        case other
    }

    /// The fewest digits of the number in front; shorter numbers occur in any text.
    private static let fewestDigits = 8

    private let automaton: FormAutomaton
    private var part = Part.number(0)
    /// True for a number with a colon, as in `xxd`, where two blanks end the columns; otherwise a bar does.
    private var hasColon = false
    private var hidesRest = false
    private var state: UInt32 = 0
    /// Offsets of the matched digits in the stream, from `first` on.
    private var places: [Int] = []
    private var first = 0

    /// `automaton` gets the digits in lower case.
    init(_ automaton: FormAutomaton) { self.automaton = automaton }

    /// The offset at which a possible form begins; nil if there is none.
    var start: Int? { first < places.count ? places[first] : nil }

    /// Takes a run of bytes in which only the first can be a line end. Returns the ranges to hide.
    mutating func take(_ run: UnsafeRawBufferPointer, at start: Int) -> [Range<Int>] {
        var found: [Range<Int>] = []
        for (offset, byte) in run.enumerated() {
            if byte == UInt8(ascii: "\n") {
                endLine()
                continue
            }
            switch part {
            case .other: return found
            case .text:
                if hidesRest { found.append(start + offset..<start + run.count) }
                return found
            case .number, .gap, .columns:
                if let form = next(byte, at: start + offset) { found.append(form) }
                if hidesRest { found.append(start + offset..<start + offset + 1) }
            }
        }
        return found
    }

    private mutating func endLine() {
        switch part {
        case .columns, .text: break
        case .number, .gap, .other: forget()
        }
        part = .number(0)
        hidesRest = false
    }

    /// Returns the range of a form that ends with this byte.
    private mutating func next(_ byte: UInt8, at place: Int) -> Range<Int>? {
        let digit = Self.digit(byte)
        switch part {
        case .number(let count) where digit != nil && count < 16: part = .number(count + 1)
        case .number(let count) where count >= Self.fewestDigits && byte == UInt8(ascii: ":"):
            (part, hasColon) = (.columns(blanks: 0), true)
        case .number(let count) where count >= Self.fewestDigits && byte == UInt8(ascii: " "): part = .gap
        case .gap where byte == UInt8(ascii: " "): (part, hasColon) = (.columns(blanks: 0), false)
        case .columns(let blanks) where byte == UInt8(ascii: " "):
            part = hasColon && blanks == 1 ? .text : .columns(blanks: blanks + 1)
        case .columns:
            if let digit {
                part = .columns(blanks: 0)
                return append(digit, at: place)
            } else if !hasColon, byte == UInt8(ascii: "|") {
                part = .text
            } else {
                fallthrough
            }
        default:
            part = hidesRest ? .text : .other
            forget()
        }
        return nil
    }

    private mutating func append(_ digit: UInt8, at place: Int) -> Range<Int>? {
        state = automaton.next(state, digit)
        places.append(place)
        let length = Int(automaton.states[Int(state)].match)
        let form = length > 0 ? places[places.count - length]..<place + 1 : nil
        if form != nil { hidesRest = true }
        first = places.count - Int(automaton.states[Int(state)].depth)
        if first > 4096, first > places.count / 2 {
            places.removeFirst(first)
            first = 0
        }
        return form
    }

    private mutating func forget() {
        state = 0
        places.removeAll(keepingCapacity: true)
        first = 0
    }

    /// Returns a digit in lower case; nil for anything else.
    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): byte
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte | 0x20
        default: nil
        }
    }
}
