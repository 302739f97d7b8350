/// Turns the events of one run into bytes somewhere. Called in the order of `sequence`, never concurrently; never calls
/// back into the run.
package protocol Reporter: AnyObject {
    func report(_ event: RunEvent)

    /// Called after each round of events and again when the time it returned last has come; an early call does no harm.
    /// `elapsed` is measured from the start of the run. Returns when it wants to be called next, on the same clock, or
    /// nil if only events matter to it.
    func tick(at elapsed: Duration) -> Duration?
}

extension Reporter {
    package func tick(at elapsed: Duration) -> Duration? { nil }
}

/// Where a reporter's bytes go. One call is one record and becomes one `write(2)`, so that records of several writers
/// never mix inside a line. Errors are the sink's to remember; the run learns of them at its end.
package protocol RecordSink: AnyObject {
    func write(_ record: UnsafeRawBufferPointer)
}
