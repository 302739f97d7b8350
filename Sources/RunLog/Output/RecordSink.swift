internal import Basics

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

/// A sink that collects the records of one turn of the event loop, so that what has become ready is started before
/// anything is written, and all of it takes one call. Nothing is kept longer than to `flush`, which the end of each
/// turn calls, or than a pipe can take without mixing it with what others write.
package final class TurnSink: RecordSink {
    private let sink: any RecordSink
    private var records = ByteBuffer()
    /// PIPE_BUF of Linux.
    private static let limit = 4096

    package init(over sink: any RecordSink) { self.sink = sink }

    package func write(_ record: UnsafeRawBufferPointer) {
        if records.count + record.count > Self.limit { flush() }
        guard record.count < Self.limit else { return sink.write(record) }
        records.append(record)
    }

    package func write(pulling source: @escaping RecordSource) {
        flush()
        sink.write(pulling: source)
    }

    package func flush() {
        guard records.count > 0 else { return }
        records.withUnsafeBytes(sink.write)
        records.removeAll()
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
