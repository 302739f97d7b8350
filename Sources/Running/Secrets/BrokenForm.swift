/// The beginning of a form of a secret that is interrupted by bytes that do not show: colours, or the line ends that
/// tools break base64 with.
///
/// It begins where such bytes interrupt a possible form, goes on over them, and is over once none of them is inside
/// it any longer.
struct BrokenForm: Sendable {
    /// The maximum number of bytes in a row that do not count; more are no colour.
    private static let longestBreak = 256

    private let automaton: FormAutomaton
    private var state: UInt32
    /// The places in the stream of the bytes of the state's text; those before `first` are done with.
    private var places: [Int]
    private var first = 0
    private var lastBreak: Int

    /// `state` is that of the automaton after the bytes at `places`, which end before the break at `place`.
    init(_ automaton: FormAutomaton, state: UInt32, places: Range<Int>, brokenAt place: Int) {
        self.automaton = automaton
        self.state = state
        self.places = Array(places)
        lastBreak = place
    }

    /// The place where it begins.
    var start: Int { places[first] }

    /// Skips a byte that does not count. Returns true if the form goes on.
    mutating func skip(_ place: Int) -> Bool {
        lastBreak = place
        return place - places[places.count - 1] <= Self.longestBreak
    }

    /// Appends a byte that counts. Calls `found` with the longest form that ends with it, from its first byte to its
    /// last. Returns true if the form goes on.
    mutating func append(_ byte: UInt8, at place: Int, found: (ClosedRange<Int>) -> Void) -> Bool {
        state = automaton.next(state, byte)
        places.append(place)
        let depth = Int(automaton.states[Int(state)].depth)
        first = places.count - depth
        let length = Int(automaton.states[Int(state)].match)
        if length > 0 { found(places[places.count - length]...place) }
        if first > 4096, first > places.count / 2 {
            places.removeFirst(first)
            first = 0
        }
        return depth > 0 && start < lastBreak
    }
}

/// Separates the bytes of a terminal's control sequences (ESC `[` … letter) from text, one by one.
struct ControlSequences: Sendable {
    private enum Position {
        case text, escape, sequence
    }

    private var position = Position.text

    /// Returns true if the next byte belongs to a sequence. An ESC that begins none counts as one, too.
    mutating func includes(_ byte: UInt8) -> Bool {
        switch (position, byte) {
        case (_, 0x1B): position = .escape
        case (.escape, UInt8(ascii: "[")): position = .sequence
        case (.sequence, 0x20...0x3F): break
        case (.sequence, 0x40...0x7E):
            position = .text
            return true
        default:
            position = .text
            return false
        }
        return true
    }
}
