/// What a request for the end of the whole run stops.
package struct RunStopping: RecordFields, Sendable {
    /// Who asked, such as `SIGINT`, `ctl` or `timeout`.
    package var source = ""
    package var cause = Cause()
    /// The running steps that are asked to end; hooks go on.
    package var steps: [String] = []
    /// How long the one with the longest grace may take; nil where nothing is asked to end.
    package var grace: Duration?

    package init() {}

    package mutating func fields<Visitor: RecordVisitor & ~Copyable>(_ visitor: inout Visitor) {
        visitor.field("source", &source, "who asked, such as `SIGINT`, `ctl`, `timeout` or `flowrun`")
        visitor.field("cause", &cause, "why")
        visitor.field("steps", &steps, "the running steps that are asked to end; hooks go on")
        visitor.field(
            "grace", &grace,
            "seconds that the one with the longest grace may take; null where nothing is asked to end")
    }
}
