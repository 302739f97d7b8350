/// A group has begun, or a round of it.
package struct GroupStarted: RecordFields, Sendable {
    package var group = ""

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
    }
}

/// A round of a group has failed, and another one follows.
package struct GroupRetry: RecordFields, Sendable {
    package var group = ""
    /// The round that has failed, from 0.
    package var round = 0
    /// The time until the next round may begin.
    package var delay = Duration.zero

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
        visitor.field("round", &round, "which time the group ran that has failed, from 0")
        visitor.delay(&delay)
    }
}

/// A group and all its members have ended.
package struct GroupFinished: RecordFields, Sendable {
    package var group = ""
    package var outcome = StepOutcome.success
    package var duration = Duration.zero
    package var cause: Cause?
    /// Ids of the members, at any depth, that failed or timed out and are not tolerated, in order of their end.
    package var errors: [String] = []
    package var cancelled: [String] = []
    package var notRun: [String] = []
    /// As in `StepFinished`.
    package var outputs: [LoggedValue] = []
    /// False for a fan-out that ended before its instances were known: it counts like one step.
    package var isExpanded = true

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.group(&group)
        visitor.outcome(&outcome)
        visitor.field("duration", &duration, "seconds")
        visitor.cause(&cause)
        visitor.field(
            "errors", &errors,
            "members at any depth that failed or timed out and are not tolerated, in order of their end")
        visitor.field("cancelled", &cancelled, "members at any depth that were cancelled")
        visitor.field("not_run", &notRun, "members at any depth that something upstream ruled out")
        visitor.field("outputs", &outputs, "the group's outputs by name")
        visitor.field(
            "expanded", &isExpanded,
            """
            false for a fan-out that ended before its copies were known: it counts like one step in `counts`, \
            `cancelled` and `not_run`
            """
        )
    }
}
