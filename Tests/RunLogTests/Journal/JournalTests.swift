import Basics
import FlowrunTestSupport
import Foundation
import Glibc
import RunLog
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

    private static let header = JournalHeader { header in
        header.run = "20260101T000000-aaaaaa"
        header.file = "w.yml"
        header.path = "/w.yml"
        header.workflow = "w.yml"
        header.time = 1_767_225_600_000_000
        header.targets = ["a"]
        header.params = ["n=1"]
        header.folder = "/runs"
        header.why = "flowrun why"
    }

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
    private func write(
        _ events: [RunEvent], outputLimit: Int = JournalWriter.standardOutputLimit
    ) throws -> [UInt8] {
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: outputLimit)
        for event in events { writer.report(event) }
        writer.flush()
        #expect(writer.failure == nil)
        return [UInt8](try Data(contentsOf: URL(filePath: test.path(Self.journal))))
    }

    private func output(_ bytes: [UInt8], attempt: Int = 1) -> RunEvent.Kind {
        .stepOutput(
            StepOutput(step: "a/b", attempt: attempt, stream: .output, bytes: lent(bytes), isPartial: false))
    }

    private func lent(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(copy)
    }

    /// One more folder of a run.
    private func folder(_ name: String) throws -> Int32 {
        try test.write("", to: "\(name)/x")
        let folder = open(test.path(name), O_RDONLY | O_DIRECTORY)
        try #require(folder >= 0)
        return folder
    }

    private func outputs() throws -> (pieces: [[UInt8]], missing: Int, steps: [(step: String, size: Int)]) {
        let reader = try #require(try JournalReader(in: folder))
        var pieces: [[UInt8]] = []
        while reader.next({ if case .stepOutput(let output) = $0.kind { pieces.append(Array(output.bytes)) } }) {}
        return (pieces, reader.missingOutput, reader.stepsWithMissingOutput)
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

    @Test func `nothing after a changed bit is believed, and its place is reported`() throws {
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
                // One of the two records about the whole run is enough.
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
        let torn = Array(bytes[start...].prefix(40)) + hole
        for (rest, isDamaged) in [(hole + bytes[start...], true), (hole, false), (torn, false)] {
            try test.write(bytes[..<start] + rest, to: Self.journal)
            let reader = try #require(try JournalReader(in: folder))
            while reader.next({ _ in }) {}
            #expect(reader.damage?.offset == (isDamaged ? start : nil))
            #expect(try JournalRecovery.recover(in: folder) == (isDamaged ? 0 : rest.count))
            try? FileManager.default.removeItem(atPath: test.path(Self.journal + ".torn"))
        }
    }

    @Test func `output that differs from what was kept counts as missing, and its size is known`() throws {
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

    @Test func `a step that writes more than there is room for keeps its beginning and its end`() throws {
        let piles = (0..<70).map { number in [UInt8](repeating: UInt8(number), count: 1 << 20) }
        try write(events(piles.map { output($0) }), outputLimit: 4 << 20)
        let read = try outputs()
        #expect(read.pieces.filter { !$0.isEmpty } == Array(piles[..<4] + piles[68...]))
        #expect(read.missing == 64 << 20)
        #expect(read.steps.map(\.step) == ["a/b"] && read.steps.map(\.size) == [64 << 20])
    }

    @Test func `the end of an output is in two files that are written over, and cut when the step ends`() throws {
        let folder = try folder("run")
        defer { close(folder) }
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 0)
        let end = StepFinished(
            step: "a/b", attempt: 1, outcome: .failure, status: .exited(1), duration: .milliseconds(1))
        let kinds = (1...41).map { output([UInt8](repeating: UInt8($0), count: $0 < 40 ? 40_000 : 100)) }
        var early: JournalReader?
        for (number, event) in events(kinds + [.stepFinished(end)]).enumerated() {
            writer.report(event)
            guard number == 1 else { continue }
            writer.flush()
            early = try JournalReader(in: folder)
            #expect(early?.next { _ in } == true)
        }
        writer.flush()
        let ends = try FileManager.default.contentsOfDirectory(atPath: test.path("run")).filter { $0.contains(".end") }
        let sizes = try ends.map {
            try FileManager.default.attributesOfItem(atPath: test.path("run/\($0)"))[.size] as? Int
        }
        #expect(ends.count == 2 && Set(sizes) == [80_000, 40_200])
        while early?.next({ _ in }) == true {}
        #expect(early?.changedOutput == 0 && early?.missingOutput == 35 * 40_000)
    }

    @Test func `no bytes of before are in what is kept of an end`() throws {
        let folder = try folder("run")
        defer { close(folder) }
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 0)
        let sizes = [65_000, 64_000, 66_000] + [Int](repeating: 1024, count: 70) + [300]
        for attempt in 1...2 {
            let pieces = sizes.map { output([UInt8](repeating: 7, count: $0), attempt: attempt) }
            for event in events(pieces) { writer.report(event) }
        }
        let end = StepFinished(
            step: "a/b", attempt: 2, outcome: .failure, status: .exited(1), duration: .milliseconds(1))
        for event in events([.stepFinished(end)]) { writer.report(event) }
        writer.flush()
        let names = try FileManager.default.contentsOfDirectory(atPath: test.path("run")).filter { $0.contains(".end") }
        let all = try names.map {
            try FileManager.default.attributesOfItem(atPath: test.path("run/\($0)"))[.size] as? Int
        }
        // By attempt: 64 pieces of 1 KiB, then six and the last.
        #expect(all.compactMap(\.self).sorted() == [6444, 6444, 65_536, 65_536])
    }

    @Test func `each step keeps at least its last 64 KiB, however little room there is`() throws {
        let line = [UInt8](repeating: 7, count: 256)
        for limit in [0, 100_000, 1 << 20] {
            let folder = try folder("limit\(limit)")
            defer { close(folder) }
            let writer = try JournalWriter(in: folder, Self.header, outputLimit: limit)
            for event in events((0..<1400).map { _ in output(line) }) { writer.report(event) }
            writer.flush()
            let reader = try #require(try JournalReader(in: folder))
            var kept: [Bool] = []
            while reader.next({ event in
                if case .stepOutput(let output) = event.kind { kept.append(output.bytes.elementsEqual(line)) }
            }) {}
            #expect(kept.count == 1400)
            #expect(kept.suffix(256).allSatisfy { $0 })
            #expect((reader.missingOutput > 0) == (limit < 1400 * 256))
            #expect(writer.isOverLimit == (limit < 1400 * 256))
        }
    }

    @Test func `the oldest output of successful steps that no step reads makes room first`() throws {
        let piece = [UInt8](repeating: 7, count: 64 << 10)
        func step(_ id: String, _ outcome: StepOutcome, _ stream: StepOutput.Stream = .output) -> [RunEvent.Kind] {
            let end = StepFinished(
                step: id, attempt: 1, outcome: outcome, status: .exited(0), duration: .milliseconds(1))
            let output = StepOutput(step: id, attempt: 1, stream: stream, bytes: lent(piece), isPartial: false)
            return (0..<16).map { _ in .stepOutput(output) } + [.stepFinished(end)]
        }
        let kinds =
            step("failed", .failure) + step("read", .success, .stdout) + step("old", .success)
            + step("new", .success) + step("last", .success)
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 4 << 20)
        var paths: [String: Bool] = [:]
        for event in events(kinds) {
            writer.report(event)
            if case .stepFinished(let end) = event.kind { paths[end.step] = writer.file(ofStep: end.step) != nil }
        }
        writer.flush()
        #expect(paths.values.allSatisfy { $0 })
        #expect(writer.file(ofStep: "old") == nil && writer.file(ofStep: "last") != nil)
        let reader = try #require(try JournalReader(in: folder))
        while reader.next({ _ in }) {}
        #expect(reader.stepsWithMissingOutput.map(\.step) == ["old", "new"])
        #expect(reader.file(ofStep: "old") == nil && reader.file(ofStep: "failed") != nil)
        let ends = try FileManager.default.contentsOfDirectory(atPath: test.path("run")).filter { $0.hasSuffix(".end") }
        #expect(ends.count == 2)
        for name in ends {
            let text = try test.contents(of: "run/\(name)")
            #expect(text.hasPrefix("[983040 bytes before this were not kept]\n") && text.utf8.count == 41 + 65536)
        }
    }

    @Test func `output that was lent before its file went can be read to the end`() throws {
        let pile = [UInt8](repeating: 7, count: 64 << 10)
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 128 << 10)
        let end = StepFinished(
            step: "a/b", attempt: 1, outcome: .success, status: .exited(0), duration: .milliseconds(1))
        var places: [OutputPlace] = []
        for event in events([output(pile), output(pile), .stepFinished(end), output(pile)]) {
            writer.report(event)
            if let place = writer.lastPlace { places.append(place) }
        }
        #expect(places.count == 3)
        var bytes = [UInt8](repeating: 0, count: pile.count)
        #expect(try bytes.withUnsafeMutableBytes { try places[0].file.read(into: $0, from: 0) } == pile.count)
        #expect(bytes == pile && writer.isOverLimit && writer.file(ofStep: "a/b") == nil)
    }

    @Test func `output that is not kept at all takes one record, and a reader has all its events`() throws {
        let first = [UInt8](repeating: 7, count: 40 << 10)
        let end = StepFinished(
            step: "a/b", attempt: 1, outcome: .success, status: .exited(0), duration: .milliseconds(1))
        let kinds =
            [output(first)] + (0..<9000).map { _ in output([1]) } + [.stepFinished(end)]
            + (0..<3).map { _ in output([1]) }
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 0)
        for event in events(kinds) {
            writer.report(event)
            writer.flush(isGoingOn: true)
        }
        writer.flush()
        let lines = try test.contents(of: Self.journal).split(separator: "\n")
        #expect(lines.count < 8000 && lines.contains { $0.contains("\"dropped\"") })
        let reader = try #require(try JournalReader(in: folder))
        var sequences: [Int] = []
        while reader.next({ sequences.append($0.sequence) }) {}
        #expect(sequences == Array(kinds.indices))
        #expect(reader.missingOutput > 1000)
        #expect(reader.file(ofStep: "a/b") == nil)
    }

    @Test func `no record makes more events than a writer puts into one`() throws {
        let writer = try JournalWriter(in: folder, Self.header, outputLimit: 0)
        let kinds = [output([UInt8](repeating: 7, count: 40 << 10))] + (0..<9000).map { _ in output([1]) }
        for event in events(kinds) { writer.report(event) }
        writer.flush()
        var lines = try test.contents(of: Self.journal).split(separator: "\n").map(String.init)
        let last = try #require(lines.popLast()?.split(separator: ",\"crc\"").first)
        let forged = last.replacing(#/"events":[0-9]+/#, with: "\"events\":1000000000000000000")
        #expect(forged != last)
        let sum = String(Self.crc(Array(forged.utf8)), radix: 16)
        let crc = String(repeating: "0", count: 8 - sum.count) + sum
        let text = (lines + ["\(forged),\"crc\":\"\(crc)\"}"]).map { $0 + "\n" }.joined()
        try test.write(text, to: Self.journal)
        let reader = try #require(try JournalReader(in: folder))
        var count = 0
        while reader.next({ _ in count += 1 }), count < 20_000 {}
        #expect(count == lines.count - 1)
    }

    @Test func `a journal that is there is never written over`() throws {
        try write(shortRun)
        #expect(throws: SystemError(EEXIST)) { try JournalWriter(in: folder, Self.header) }
    }
}
