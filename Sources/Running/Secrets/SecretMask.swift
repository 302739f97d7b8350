package import Workflow

/// Removes secrets from everything that goes to the log: every byte that belongs to a form of a secret is dropped,
/// each unbroken run of such bytes becomes one `***`.
///
/// A value is the state of one stream. Values made from the same mask share the automaton, so that a stream costs a
/// few words until it holds something back. It holds back no more than the longest form, with the bytes that
/// interrupt it, and only while that may still become one:
///
///     var mask = secrets.mask
///     mask?.feed(bytes) { lines.append($0) }
///     mask?.finish { lines.append($0) }
///
/// Bytes in, bytes out: the result does not depend on how the stream is cut. Linear in the text.
package struct SecretMask: Sendable {
    /// The text that replaces a secret in the log.
    package static let replacement = "***"

    private let automaton: FormAutomaton
    /// The automaton of the forms that go on in the next line.
    private let wrapping: FormAutomaton
    private var state: UInt32 = 0
    /// The number of bytes that have been fed.
    private var fed = 0
    /// The number of them that have been decided: emitted, or left out.
    private var decided = 0
    /// The bytes from `origin` to `fed`, of which those from `decided` are waiting.
    private var held: [UInt8] = []
    private var origin = 0
    /// Waiting bytes that belong to secrets, as places in the stream; separate from one another, in order.
    private var hidden: [Range<Int>] = []
    /// True if the last thing emitted was a replacement that more hidden bytes would only prolong.
    private var endsHidden = false
    private var sequences = ControlSequences()
    /// Possible forms with colours in them, or with line ends.
    private var colored: BrokenForm?
    private var wrapped: BrokenForm?
    /// True if only blanks have come since the last line end.
    private var isIndenting = false
    private var dump: HexDump

    /// Makes a mask for these secrets; nil if there is none.
    package init?(_ secrets: some Collection<String>) {
        guard !secrets.isEmpty else { return nil }
        let forms = secrets.map(SecretForms.init)
        automaton = FormAutomaton(forms.reduce(into: []) { $0.formUnion($1.all) })
        wrapping = FormAutomaton(forms.reduce(into: []) { $0.formUnion($1.wrapped) })
        dump = HexDump(automaton)
    }

    /// Takes the next bytes of the stream and emits those that are known to be no part of a secret. The buffers are
    /// valid during the call of `emit` only.
    package mutating func feed(_ bytes: UnsafeRawBufferPointer, emit: (UnsafeRawBufferPointer) -> Void) {
        var rest = bytes
        // In pieces, so that places to hide need little memory.
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(64 << 10))
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
            let start = fed
            scan(piece)
            let undecided = min(fed - depth, colored?.start ?? fed, min(wrapped?.start ?? fed, dump.start ?? fed))
            decide(to: undecided, piece, from: start, emit: emit)
            hold(piece, from: start)
        }
    }

    /// Emits what is still held back: the stream has ended. The mask is then ready for another one.
    package mutating func finish(emit: (UnsafeRawBufferPointer) -> Void) {
        decide(to: fed, UnsafeRawBufferPointer(start: nil, count: 0), from: fed, emit: emit)
        held = []
        origin = fed
        state = 0
        endsHidden = false
        (colored, wrapped) = (nil, nil)
        dump = HexDump(automaton)
    }

    /// The number of last bytes that may become a form.
    private var depth: Int { Int(automaton.states[Int(state)].depth) }

    /// Finds the bytes to hide, in runs that end before a byte at which a form may be broken.
    private mutating func scan(_ piece: UnsafeRawBufferPointer) {
        let start = fed
        var rest = 0..<0
        while rest.upperBound < piece.count {
            let from = rest.upperBound
            let end = piece[(from + 1)...].firstIndex { $0 == 0x1B || $0 == 0x0A || $0 == 0x0D } ?? piece.count
            rest = from..<end
            if depth > 0 { mayBreak(at: start + from, piece[from], in: piece, from: start) }
            let run = UnsafeRawBufferPointer(rebasing: piece[rest])
            if colored != nil || wrapped != nil { goOn(run, at: start + from) }
            for range in dump.take(run, at: start + from) { hide(range) }
            state = automaton.scan(run, from: state) { length, end in
                hide(start + from + end - length..<start + from + end)
            }
            fed = start + end
        }
    }

    /// Starts to skip bytes that do not show, if the text before them may become a form.
    private mutating func mayBreak(at place: Int, _ byte: UInt8, in piece: UnsafeRawBufferPointer, from start: Int) {
        let window = place - depth..<place
        switch byte {
        case 0x1B where colored == nil:
            colored = BrokenForm(automaton, state: state, places: window, brokenAt: place)
        case 0x0A where wrapped == nil, 0x0D where wrapped == nil:
            var state: UInt32 = 0
            for place in window {
                state = wrapping.next(state, place < start ? held[place - origin] : piece[place - start])
            }
            let depth = Int(wrapping.states[Int(state)].depth)
            guard depth > 0 else { return }
            wrapped = BrokenForm(wrapping, state: state, places: place - depth..<place, brokenAt: place)
        default: return
        }
        // A form that goes on has already seen what the other one needs to know.
        if colored == nil || wrapped == nil { (sequences, isIndenting) = (ControlSequences(), false) }
    }

    /// Takes bytes that may belong to broken forms, or interrupt them.
    private mutating func goOn(_ run: UnsafeRawBufferPointer, at start: Int) {
        for (offset, byte) in run.enumerated() {
            guard colored != nil || wrapped != nil else { return }
            let place = start + offset
            let isInvisible = sequences.includes(byte)
            if byte == 0x0A || byte == 0x0D {
                isIndenting = true
            } else if byte != 0x20, byte != 0x09 {
                isIndenting = false
            }
            if var form = colored.take() {
                let goesOn =
                    isInvisible
                    ? form.skip(place) : form.append(byte, at: place) { hide($0.lowerBound..<$0.upperBound + 1) }
                if goesOn { colored = form }
            }
            if var form = wrapped.take() {
                let goesOn =
                    isInvisible || isIndenting
                    ? form.skip(place) : form.append(byte, at: place) { hide($0.lowerBound..<$0.upperBound + 1) }
                if goesOn { wrapped = form }
            }
        }
    }

    private mutating func hide(_ range: Range<Int>) {
        var range = range
        // Broken forms are found a little out of order.
        var index = hidden.count
        while index > 0, hidden[index - 1].lowerBound > range.upperBound { index -= 1 }
        var first = index
        while first > 0, hidden[first - 1].upperBound >= range.lowerBound {
            first -= 1
            range = min(range.lowerBound, hidden[first].lowerBound)..<max(range.upperBound, hidden[first].upperBound)
        }
        hidden.replaceSubrange(first..<index, with: [range])
    }

    private mutating func decide(
        to limit: Int, _ piece: UnsafeRawBufferPointer, from start: Int, emit: (UnsafeRawBufferPointer) -> Void
    ) {
        var done = 0
        for range in hidden {
            guard range.lowerBound < limit else { break }
            emitPlain(to: range.lowerBound, piece, from: start, emit)
            if !endsHidden {
                Self.replacementBytes.withUnsafeBytes(emit)
                endsHidden = true
            }
            decided = min(range.upperBound, limit)
            guard range.upperBound <= limit else {
                hidden[done] = limit..<range.upperBound
                break
            }
            done += 1
        }
        hidden.removeFirst(done)
        emitPlain(to: limit, piece, from: start, emit)
    }

    private mutating func emitPlain(
        to end: Int, _ piece: UnsafeRawBufferPointer, from start: Int, _ emit: (UnsafeRawBufferPointer) -> Void
    ) {
        guard decided < end else { return }
        endsHidden = false
        if decided < start {
            held.withUnsafeBytes { held in
                emit(UnsafeRawBufferPointer(rebasing: held[(decided - origin)..<(min(end, start) - origin)]))
            }
        }
        if end > start {
            emit(UnsafeRawBufferPointer(rebasing: piece[(max(decided, start) - start)..<(end - start)]))
        }
        decided = end
    }

    /// Keeps the undecided bytes; `piece` begins where `held` ends.
    private mutating func hold(_ piece: UnsafeRawBufferPointer, from start: Int) {
        if decided >= start {
            held.removeAll(keepingCapacity: true)
            held.append(contentsOf: piece[(decided - start)...])
            origin = decided
            return
        }
        held.append(contentsOf: piece)
        // Not each time, so that single bytes after a long beginning of a form stay cheap.
        if decided - origin > held.count / 2 {
            held.removeFirst(decided - origin)
            origin = decided
        }
    }

    private static let replacementBytes = Array(replacement.utf8)
}

// MARK: - Whole texts

extension SecretMask {
    /// Masks a text for the log: a message, a word of an argv, a script.
    package func mask(_ text: String) -> String {
        var stream = SecretMask(fresh: self)
        var result: [UInt8] = []
        var isChanged = false
        var text = text
        text.withUTF8 { bytes in
            stream.feed(UnsafeRawBufferPointer(bytes)) { result.append(contentsOf: $0) }
            stream.finish { result.append(contentsOf: $0) }
            isChanged = !bytes.elementsEqual(result)
        }
        return isChanged ? String(decoding: result, as: UTF8.self) : text
    }

    /// Masks a value for the log. A number that is a secret becomes a text.
    package func mask(_ value: Value) -> Value {
        switch value {
        case .null, .bool: return value
        case .int(let number): return masked(String(number)).map(Value.string) ?? value
        case .decimal(let number): return masked(number.text).map(Value.string) ?? value
        case .string(let text): return .string(mask(text))
        case .list(let elements): return .list(elements.map { mask($0) })
        case .object(let fields):
            return .object(fields.map { Value.Field(name: mask($0.name), value: mask($0.value)) })
        }
    }

    private init(fresh other: SecretMask) {
        (automaton, wrapping) = (other.automaton, other.wrapping)
        dump = HexDump(automaton)
    }

    /// Returns nil if there is nothing to hide.
    private func masked(_ text: String) -> String? {
        let result = mask(text)
        return result == text ? nil : result
    }
}

/// Printing a mask by accident prints no secret.
extension SecretMask: CustomStringConvertible, CustomReflectable {
    package var description: String { "SecretMask" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Finds all occurrences of many byte sequences in one pass (Aho and Corasick, 1975): linear in the text whatever the
/// sequences are, however they overlap.
///
/// A state is the longest end of the text so far that begins some form. Children are short lists, because nearly
/// every state has one of them; a form of 64 KiB costs 1.5 MB. Immutable, so that all streams of a run share one.
final class FormAutomaton: Sendable {
    struct State {
        /// The state of the longest proper end of this state's text that begins a form.
        var fallback: UInt32 = 0
        var firstChild: UInt32 = 0
        var nextSibling: UInt32 = 0
        /// The length of this state's text.
        var depth: UInt32
        /// The length of the longest form that ends here; 0 if none does.
        var match: UInt32 = 0
        /// The last byte of this state's text.
        var byte: UInt8
    }

    let states: [State]
    /// The states of depth 1 by their byte; 0 if no form begins with it.
    let roots: [UInt32]

    init(_ forms: Set<[UInt8]>) {
        var states = [State(depth: 0, byte: 0)]
        var roots = [UInt32](repeating: 0, count: 256)
        for form in forms where !form.isEmpty {
            var state: UInt32 = 0
            for byte in form {
                if let child = Self.child(of: state, byte, states, roots) {
                    state = child
                    continue
                }
                let child = UInt32(states.count)
                states.append(State(depth: states[Int(state)].depth + 1, byte: byte))
                if state == 0 { roots[Int(byte)] = child }
                states[Int(child)].nextSibling = states[Int(state)].firstChild
                states[Int(state)].firstChild = child
                state = child
            }
            states[Int(state)].match = UInt32(form.count)
        }
        // Level by level, because a fallback is always less deep.
        var queue: [UInt32] = [0]
        var index = 0
        while index < queue.count {
            let state = queue[index]
            index += 1
            var next = states[Int(state)].firstChild
            while next != 0 {
                let child = Int(next)
                if state != 0 {
                    let fallback = Self.next(states[Int(state)].fallback, states[child].byte, states, roots)
                    states[child].fallback = fallback
                    if states[child].match == 0 { states[child].match = states[Int(fallback)].match }
                }
                queue.append(next)
                next = states[child].nextSibling
            }
        }
        self.states = states
        self.roots = roots
    }

    private static func child(of state: UInt32, _ byte: UInt8, _ states: [State], _ roots: [UInt32]) -> UInt32? {
        if state == 0 { return roots[Int(byte)] == 0 ? nil : roots[Int(byte)] }
        var next = states[Int(state)].firstChild
        while next != 0, states[Int(next)].byte != byte { next = states[Int(next)].nextSibling }
        return next == 0 ? nil : next
    }

    private static func next(_ state: UInt32, _ byte: UInt8, _ states: [State], _ roots: [UInt32]) -> UInt32 {
        var state = state
        while state != 0 {
            if let child = child(of: state, byte, states, roots) { return child }
            state = states[Int(state)].fallback
        }
        return roots[Int(byte)]
    }

    /// Returns the state after `state` and one more byte.
    func next(_ state: UInt32, _ byte: UInt8) -> UInt32 { Self.next(state, byte, states, roots) }

    /// Continues from `state` through `bytes`. Calls `found` for the longest form that ends at each place, with its
    /// length and the place of its end. Returns the state at the end.
    func scan(
        _ bytes: UnsafeRawBufferPointer, from state: UInt32, found: (_ length: Int, _ end: Int) -> Void
    ) -> UInt32 {
        states.withUnsafeBufferPointer { states in
            roots.withUnsafeBufferPointer { roots in
                var state = state
                var index = 0
                while index < bytes.count {
                    if state == 0 {
                        // Most of a text begins no form.
                        while index < bytes.count, roots[Int(bytes[index])] == 0 { index += 1 }
                        guard index < bytes.count else { break }
                        state = roots[Int(bytes[index])]
                    } else {
                        let byte = bytes[index]
                        repeat {
                            var child = states[Int(state)].firstChild
                            while child != 0, states[Int(child)].byte != byte {
                                child = states[Int(child)].nextSibling
                            }
                            if child != 0 {
                                state = child
                                break
                            }
                            state = states[Int(state)].fallback
                            if state == 0 { state = roots[Int(byte)]; break }
                        } while true
                    }
                    index += 1
                    let match = states[Int(state)].match
                    if match > 0 { found(Int(match), index) }
                }
                return state
            }
        }
    }
}
