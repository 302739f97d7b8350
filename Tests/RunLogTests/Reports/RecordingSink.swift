import RunLog

/// Keeps every record that was written.
final class RecordingSink: RecordSink {
    private(set) var records: [[UInt8]] = []

    func write(_ record: UnsafeRawBufferPointer) {
        records.append(Array(record))
    }

    var bytes: [UInt8] { records.flatMap { $0 } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
}
