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
