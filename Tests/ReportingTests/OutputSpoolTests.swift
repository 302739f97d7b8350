import Foundation
import Testing

@testable import Reporting

@Suite struct OutputSpoolTests {
    private func contents(_ spool: OutputSpool) -> [UInt8] {
        var bytes: [UInt8] = []
        spool.forEachChunk { chunk in
            #expect(chunk.count <= 64 * 1024)
            bytes.append(contentsOf: chunk)
        }
        return bytes
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
                spool.append(piece)
                expected += piece
            }
            spool.append([1, 2, 3])
            expected += [1, 2, 3]
            #expect(contents(spool) == expected)
            #expect(contents(spool) == expected)
            #expect(spool.failure == nil)
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(names.isEmpty)
        }
    }

    @Test func `without a place for the file the beginning is kept and the rest is counted`() {
        let spool = OutputSpool(directory: "/proc/no/such/place")
        let first = [UInt8](repeating: 1, count: 20_000)
        spool.append(first)
        #expect(spool.failure == nil)
        spool.append([UInt8](repeating: 2, count: 20_000))
        spool.append([UInt8](repeating: 3, count: 100_000))
        spool.append([4])
        #expect(contents(spool) == first)
        #expect(spool.failure == ENOENT)
        #expect(spool.lost == 120_001)
    }
}
