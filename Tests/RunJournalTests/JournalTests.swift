import Basics
import FlowrunTestSupport
import Foundation
import Glibc
import RunEvents
import RunJournal
import Testing

/// What is left of a journal that was torn, changed or too long.
@Suite struct JournalTests {
    private let test: FlowrunTest
    private let folder: Int32
    private static let journal = "run/journal.jsonl"

    init() throws {
        test = try FlowrunTest(files: ["run/x": ""])
        folder = open(test.path("run"), O_RDONLY | O_DIRECTORY)
        try #require(folder >= 0)
    }

    private static let header = JournalHeader(
        run: "20260101T000000-aaaaaa", file: "w.yml", path: "/w.yml", workflow: "w.yml", time: 1_767_225_600_000_000,
        targets: ["a"], params: ["n=1"], logFile: nil, why: "flowrun why")

    private func events(_ kinds: [RunEvent.Kind]) -> [RunEvent] {
        kinds.enumerated().map { index, kind in
            RunEvent(sequence: index, wallClock: Int64(index), elapsed: .milliseconds(index), kind: kind)
        }
    }

    private var shortRun: [RunEvent] {
        events([
            .runStarted(RunStarted(run: "r", file: "w.yml", name: nil, steps: 1, jobs: 1, version: "1")),
            .stepStarted(StepStarted(step: "a", attempt: 1, pid: 5, command: .arguments(["true"]), line: 3)),
            .stepFinished(
                StepFinished(step: "a", attempt: 1, outcome: .success, status: .exited(0), duration: .milliseconds(1))),
            .runFinished(
                RunFinished(
                    outcome: .success, duration: .milliseconds(3), counts: OutcomeCounts(), errors: [], tolerated: [],
                    cancelled: [], notRun: [])),
        ])
    }

    @discardableResult
    private func write(_ events: [RunEvent]) throws -> [UInt8] {
        let writer = try JournalWriter(in: folder, Self.header)
        for event in events { writer.report(event) }
        writer.flush()
        #expect(writer.failure == nil)
        return [UInt8](try Data(contentsOf: URL(filePath: test.path(Self.journal))))
    }

    private func output(_ bytes: [UInt8], attempt: Int = 1) -> RunEvent.Kind {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return .stepOutput(
            StepOutput(
                step: "a/b", attempt: attempt, stream: .output, bytes: UnsafeRawBufferPointer(copy), isPartial: false))
    }

    private func outputs() throws -> (pieces: [[UInt8]], missing: Int) {
        let reader = try #require(try JournalReader(in: folder))
        var pieces: [[UInt8]] = []
        while reader.next({ if case .stepOutput(let output) = $0.kind { pieces.append(Array(output.bytes)) } }) {}
        return (pieces, reader.missingOutput)
    }

    @Test func `a journal is JSON Lines, each with the checksum of what stands before it`() throws {
        let bytes = try write(shortRun)
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 6 && lines[0] == lines[1])
        for line in lines {
            let value = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
            let crc = try #require(value["crc"]?.string)
            let content = try #require(line.range(of: ",\"crc\":\"")).lowerBound
            #expect(crc == String(format: "%08x", Self.crc(Array(line[..<content].utf8))))
            #expect(line.hasSuffix(",\"crc\":\"\(crc)\"}"))
        }
        let reader = try #require(try JournalReader(in: folder))
        #expect(reader.header == Self.header)
    }

    /// Bit by bit, as RFC 3720 says it.
    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0x82F6_3B78 }
        }
        return ~crc
    }

    @Test func `of a journal that is cut off anywhere the whole records are read, and no end is invented`() throws {
        let bytes = try write(shortRun)
        for length in bytes.indices {
            try test.write(Array(bytes[..<length]), to: Self.journal)
            let lines = bytes[..<length].count { $0 == UInt8(ascii: "\n") }
            #expect(try JournalEnd(in: folder) == nil)
            guard let reader = try? JournalReader(in: folder) else {
                #expect(lines == 0)
                continue
            }
            var count = 0
            while reader.next({ _ in count += 1 }) {}
            #expect(count == max(0, lines - 2) && !reader.isFinished && reader.damage == nil)
            #expect(reader.validSize == (bytes[..<length].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1)
        }
        try test.write(bytes, to: Self.journal)
        #expect(try JournalEnd(in: folder)?.outcome == .success)
    }

    private func size(of name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: test.path(name))[.size] as? Int
    }

    @Test func `of what follows the whole records 64 MiB are put aside, however much there is`() throws {
        let count = try write(shortRun).count
        try #require(truncate(test.path(Self.journal), off_t(count + (66 << 20))) == 0)
        #expect(try JournalRecovery.recover(in: folder) == 66 << 20)
        #expect(try size(of: Self.journal) == count)
        #expect(try size(of: "run/journal.jsonl.torn") == 64 << 20)
    }

    @Test func `after a bit that has changed nothing is believed, and its place is told`() throws {
        let bytes = try write(shortRun)
        var changed = bytes
        for offset in bytes.indices {
            for bit in 0..<8 {
                changed[offset] ^= 1 << UInt8(bit)
                defer { changed[offset] = bytes[offset] }
                try test.write(changed, to: Self.journal)
                let line = bytes[..<offset].count { $0 == Self.newline }
                let reader = try #require(try JournalReader(in: folder))
                #expect(reader.header == Self.header)
                var count = 0
                while reader.next({ _ in count += 1 }) {}
                // Of the two records about the whole run one is enough.
                let isHarmless = line < 2 && !(line == 1 && bytes[offset] == Self.newline)
                #expect(reader.isFinished == isHarmless && count == (isHarmless ? 4 : max(0, line - 2)))
                let start = (bytes[..<offset].lastIndex(of: Self.newline) ?? -1) + 1
                #expect(reader.damage?.offset == (isHarmless ? nil : start))
                #expect(reader.damage?.line == (isHarmless ? nil : line + 1))
            }
        }
    }

    private static let newline = UInt8(ascii: "\n")

    @Test func `a hole with records behind it is damage, and one at the end is a torn end`() throws {
        let bytes = try write(shortRun)
        let start = try #require(bytes.indices.filter { bytes[$0] == Self.newline }.dropFirst(2).first) + 1
        let hole = [UInt8](repeating: 0, count: 70_000)
        let torn = bytes[start...].prefix(40) + hole
        for (rest, isDamaged) in [(hole + bytes[start...], true), (hole, false), (torn, false)] {
            try test.write(bytes[..<start] + rest, to: Self.journal)
            let reader = try #require(try JournalReader(in: folder))
            while reader.next({ _ in }) {}
            #expect(reader.damage?.offset == (isDamaged ? start : nil))
            #expect(try JournalRecovery.recover(in: folder) == (isDamaged ? 0 : rest.count))
            try? FileManager.default.removeItem(atPath: test.path(Self.journal + ".torn"))
        }
    }

    @Test func `output that is not what was kept is missing, and it is known how much`() throws {
        let piece = [UInt8](repeating: 65, count: 40_000)
        try write(events([output(piece), output(piece)]))
        let name = try #require(
            try FileManager.default.contentsOfDirectory(atPath: test.path("run")).first { $0.hasSuffix(".log") })
        var kept = [UInt8](try #require(FileManager.default.contents(atPath: test.path("run/\(name)"))))
        kept[50_000] ^= 4
        try test.write(kept, to: "run/\(name)")
        let reader = try #require(try JournalReader(in: folder))
        var pieces: [[UInt8]] = []
        while reader.next({ if case .stepOutput(let output) = $0.kind { pieces.append(Array(output.bytes)) } }) {}
        #expect(pieces == [piece, []])
        #expect(reader.changedOutput == 40_000 && reader.missingOutput == 40_000 && reader.damage == nil)
    }

    @Test func `records that are gone or come twice end the journal, too`() throws {
        let lines = String(decoding: try write(shortRun), as: UTF8.self).split(separator: "\n").map { $0 + "\n" }
        for (order, line) in [([0, 1, 2, 4, 5], 4), ([0, 1, 2, 3, 3, 4, 5], 5), ([0, 1, 3, 2, 4, 5], 3)] {
            try test.write(order.map { String(lines[$0]) }.joined(), to: Self.journal)
            let reader = try #require(try JournalReader(in: folder))
            while reader.next({ _ in }) {}
            #expect(!reader.isFinished && reader.damage?.line == line)
        }
    }

    @Test func `long output has a file of its own, whose name leads nowhere else`() throws {
        let pieces = (0..<20).map { [UInt8](repeating: 65 + UInt8($0), count: 5000 + $0) }
        let bytes = try write(events(pieces.map { output($0) } + [output([1, 2, 3], attempt: 2)]))
        let names = try FileManager.default.contentsOfDirectory(atPath: test.path("run")).sorted()
        #expect(names == ["a_b.1.6.log", "journal.jsonl", "x"])
        #expect(bytes.count < 60_000)
        let read = try outputs()
        #expect(read.pieces == pieces + [[1, 2, 3]] && read.missing == 0)
        // What a changed journal names is opened nowhere but beside it.
        try FileManager.default.removeItem(atPath: test.path("run/a_b.1.6.log"))
        try FileManager.default.createSymbolicLink(
            atPath: test.path("run/a_b.1.6.log"), withDestinationPath: "/dev/zero")
        let without = try outputs()
        #expect(without.missing == pieces[6...].reduce(0) { $0 + $1.count })
    }

    @Test func `of an attempt's output 64 MiB are kept, and how much is missing is known`() throws {
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let piled = events((0..<70).map { _ in output(piece) })
        try write(piled)
        let read = try outputs()
        #expect(read.pieces.count { $0 == piece } == 64)
        #expect(read.missing == 6 << 20)
    }

    @Test func `what is not kept takes one record, and a reader has all its events`() throws {
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let end = StepFinished(
            step: "a/b", attempt: 1, outcome: .success, status: .exited(0), duration: .milliseconds(1))
        let kinds = (0..<70).map { _ in output(piece) } + [.stepFinished(end)] + (0..<3).map { _ in output([1]) }
        let writer = try JournalWriter(in: folder, Self.header)
        for event in events(kinds) {
            writer.report(event)
            writer.flush(isGoingOn: true)
        }
        let lines = try test.contents(of: Self.journal).split(separator: "\n")
        #expect(lines.count == 2 + 64 + 1 + 1 + 3)
        let reader = try #require(try JournalReader(in: folder))
        var sequences: [Int] = []
        while reader.next({ sequences.append($0.sequence) }) {}
        #expect(sequences == Array(kinds.indices))
        #expect(reader.missingOutput == 6 << 20)
        #expect(reader.file(ofStep: "a/b") == nil)
    }

    @Test func `no record makes more events than a writer puts into one`() throws {
        let writer = try JournalWriter(in: folder, Self.header)
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        for event in events((0..<66).map { _ in output(piece) }) { writer.report(event) }
        writer.flush()
        var lines = try test.contents(of: Self.journal).split(separator: "\n").map(String.init)
        let last = try #require(lines.popLast()?.split(separator: ",\"crc\"").first)
        let forged = last.replacing("\"events\":2", with: "\"events\":1000000000000000000")
        #expect(forged != last)
        let sum = String(Self.crc(Array(forged.utf8)), radix: 16)
        let crc = String(repeating: "0", count: 8 - sum.count) + sum
        let text = (lines + ["\(forged),\"crc\":\"\(crc)\"}"]).map { $0 + "\n" }.joined()
        try test.write(text, to: Self.journal)
        let reader = try #require(try JournalReader(in: folder))
        var count = 0
        while reader.next({ _ in count += 1 }), count < 1000 {}
        #expect(count == 65)
    }

    @Test func `a journal that is there is never written over`() throws {
        try write(shortRun)
        #expect(throws: SystemError(EEXIST)) { try JournalWriter(in: folder, Self.header) }
    }
}
