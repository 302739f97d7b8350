import Basics
import FlowrunTestSupport
import Foundation
import Glibc
import Testing

@testable import RunLog

@Suite struct OutputSpoolTests {
    private func contents(_ spool: OutputSpool) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let count = try spool.read(from: bytes.count, limit: 10_000) { bytes.append(contentsOf: $0) }
            #expect(count <= 10_000)
            if count == 0 { return bytes }
        }
    }

    private func append(_ bytes: [UInt8], to spool: OutputSpool) throws {
        try bytes.withUnsafeBytes { try spool.append($0) }
    }

    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory.path)
    }

    @Test(arguments: [0, 1, 5, 1000, 32 * 1024, 70 * 1024])
    func `what goes in comes out, from memory and from the file`(pieceSize: Int) throws {
        try withDirectory { directory in
            var random = SeededGenerator(seed: UInt64(pieceSize))
            let spool = OutputSpool(directory: directory)
            var expected: [UInt8] = []
            for _ in 0..<(pieceSize < 1000 ? 20_000 / 5 : 40) {
                let piece = (0..<pieceSize).map { _ in UInt8.random(in: 0...255, using: &random) }
                try append(piece, to: spool)
                expected += piece
            }
            try append([1, 2, 3], to: spool)
            expected += [1, 2, 3]
            #expect(try contents(spool) == expected)
            #expect(try contents(spool) == expected)
            #expect(spool.count == expected.count)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.isEmpty)
        }
    }

    @Test func `without a place for the file what was kept before stays`() throws {
        let spool = OutputSpool(directory: "/proc/no/such/place")
        let first = [UInt8](repeating: 1, count: 20_000)
        try append(first, to: spool)
        for more in [20_000, 100_000] {
            #expect(throws: SystemError(ENOENT)) { try append([UInt8](repeating: 2, count: more), to: spool) }
        }
        #expect(try contents(spool) == first)
        #expect(spool.isSmall)
    }
}
