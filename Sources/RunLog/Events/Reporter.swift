/// Turns the events of one run into bytes. Called in the order of `sequence`, never concurrently; never calls back
/// into the run.
package protocol Reporter: AnyObject {
    func report(_ event: RunEvent)

    /// Called after each round of events, and again at the time it returned last; an early call does no harm.
    /// `elapsed` is measured from the start of the run. Returns the time of the next call on the same clock, or nil
    /// if only events matter.
    func tick(at elapsed: Duration) -> Duration?

    /// True once a step's output could not be read back to be shown.
    var lostOutput: Bool { get }
}

extension Reporter {
    package func tick(at elapsed: Duration) -> Duration? { nil }

    package var lostOutput: Bool { false }
}

/// A long text that is made piece by piece: passes the next record to the closure and returns true; after the last
/// one returns false without calling the closure.
package typealias RecordSource = ((UnsafeRawBufferPointer) -> Void) -> Bool

/// The destination of a reporter's bytes. One call is one record and becomes one `write(2)`, so that records of
/// several writers never mix inside a line. The sink keeps errors until the end of the run, which then reports them.
package protocol RecordSink: AnyObject {
    func write(_ record: UnsafeRawBufferPointer)

    /// Writes a record that is useless later: only as much as can be written at once, and nothing while other records
    /// wait. Returns the number of bytes written.
    func offer(_ record: UnsafeRawBufferPointer) -> Int

    /// Queues a long text, which is written as its reader accepts it, in order with all other records; returns at
    /// once. A sink without its own implementation writes the whole text now.
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

/// A sink that calls a closure just before it writes each record, and before it queues a long text.
package final class ListeningSink: RecordSink {
    private let sink: any RecordSink
    private let hear: () -> Void

    package init(over sink: any RecordSink, hear: @escaping () -> Void) {
        self.sink = sink
        self.hear = hear
    }

    package func write(_ record: UnsafeRawBufferPointer) {
        hear()
        sink.write(record)
    }

    package func write(pulling source: @escaping RecordSource) {
        let hear = hear
        hear()
        sink.write { take in
            hear()
            return source(take)
        }
    }
}
