internal import Basics

/// The state of a step, a group or one of `vars`, and the reason for it: the answer of `flowrun why`.
package struct StepReport: RecordFields, Sendable {
    package var step = ""
    /// The values of an instance whose id has only a number for them; nil otherwise.
    package var item: String?
    /// nil if it has not ended.
    package var outcome: StepOutcome?
    /// The state before its end, in one word: `running`, `waiting`, `interrupted`.
    package var state: String?
    /// From 1; nil if nothing was started.
    package var attempt: Int?
    /// The ends of the earlier attempts with a status other than 0.
    package var earlier: [String]?
    /// The ids for which it waits.
    package var needs: [String]?
    /// The last lines that it wrote, as far as known.
    package var outputTail: [UInt8]?
    package var cause: Cause?

    package init() {}

    package init(_ step: String, outcome: StepOutcome?) {
        self.step = step
        self.outcome = outcome
    }

    package init(_ step: String, state: String) {
        self.step = step
        self.state = state
    }

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.step(&step)
        visitor.optional("item", &item, "values of a copy whose id has only a number for them")
        visitor.optional("outcome", &outcome, "how it ended")
        visitor.optional("state", &state, "the state of what has not ended")
        visitor.optional("attempt", &attempt, "which try of the step this is, from 1")
        visitor.optional("earlier", &earlier, "how the tries before it ended, those that did not exit with 0")
        visitor.optional("waiting_for", &needs, "ids of what it waits for")
        visitor.optional("output_tail", &outputTail, "the last lines that it wrote")
        visitor.optional("cause", &cause, "why it ended without success")
    }
}
