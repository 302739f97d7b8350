import Testing

@testable import RunLog

struct TurnSinkTests {
    private let recording = RecordingSink()

    private var written: [String] { recording.records.map { String(decoding: $0, as: UTF8.self) } }

    private func write(_ record: String, to sink: TurnSink) {
        Array(record.utf8).withUnsafeBytes { sink.write($0) }
    }

    @Test func `the records of a turn are one write at its end`() {
        let sink = TurnSink(over: recording)
        for record in ["a\n", "b\n"] { write(record, to: sink) }
        #expect(written == [])
        sink.flush()
        sink.flush()
        #expect(written == ["a\nb\n"])
    }

    @Test func `no write is larger than a pipe takes in one piece, unless a record is`() {
        let sink = TurnSink(over: recording)
        let half = String(repeating: "h", count: 2047) + "\n"
        let large = String(repeating: "l", count: 5000) + "\n"
        for record in [half, half, "c\n", large, "d\n"] { write(record, to: sink) }
        #expect(written == [half + half, "c\n", large])
        sink.flush()
        #expect(written.last == "d\n")
    }

    @Test func `a long text comes after the records before it`() {
        let sink = TurnSink(over: recording)
        write("a\n", to: sink)
        var pieces = ["t\n", "u\n"][...]
        sink.write { take in
            guard let piece = pieces.popFirst() else { return false }
            Array(piece.utf8).withUnsafeBytes(take)
            return true
        }
        write("b\n", to: sink)
        sink.flush()
        #expect(written == ["a\n", "t\n", "u\n", "b\n"])
    }
}
