/// A sink that calls a closure just before it writes each record.
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
        sink.write { take in
            hear()
            return source(take)
        }
    }
}
