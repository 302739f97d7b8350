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

/// A long text that is made piece by piece: hands the next record to the closure and returns true, or returns false,
/// and hands out nothing, once the text has ended.
package typealias RecordSource = ((UnsafeRawBufferPointer) -> Void) -> Bool

/// Where a reporter's bytes go. One call is one record and becomes one `write(2)`, so that records of several writers
/// never mix inside a line. Errors are the sink's to remember; the run learns of them at its end.
package protocol RecordSink: AnyObject {
    func write(_ record: UnsafeRawBufferPointer)

    /// Writes a record that is worth nothing later: only as much of it as can be written at once, and nothing while
    /// other records wait. Returns how much that was.
    func offer(_ record: UnsafeRawBufferPointer) -> Int

    /// Writes a long text as its reader takes it, behind all that was written before and ahead of all that is written
    /// later; returns at once. Without an own way to do so, a sink takes the whole text now.
    func write(pulling source: @escaping RecordSource)
}

extension RecordSink {
    package func offer(_ record: UnsafeRawBufferPointer) -> Int {
        write(record)
        return record.count
    }

    package func write(pulling source: @escaping RecordSource) {
        while source(write) {}
    }
}
