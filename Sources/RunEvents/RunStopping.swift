/// What a request for the end of the whole run stops.
package struct RunStopping: Sendable {
    /// Who asked, such as `SIGINT`, `ctl` or `timeout`.
    package let source: String
    package let cause: Cause
    /// The running steps that are asked to end; hooks go on.
    package let steps: [String]
    /// How long the one with the longest grace may take; nil where nothing is asked to end.
    package let grace: Duration?

    package init(source: String, cause: Cause, steps: [String] = [], grace: Duration? = nil) {
        self.source = source
        self.cause = cause
        self.steps = steps
        self.grace = grace
    }
}
