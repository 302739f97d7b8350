import Basics
import FlowrunTestSupport
import Foundation
import Testing

@testable import RunLog

@Suite struct OutputPiecesTests {
    /// A file in memory.
    private final class Source: OutputSource {
        var bytes: [UInt8] = []

        func read(into buffer: UnsafeMutableRawBufferPointer, from offset: Int) throws(SystemError) -> Int {
            let rest = bytes[min(offset, bytes.count)...].prefix(buffer.count)
            buffer.copyBytes(from: rest)
            return rest.count
        }

        func add(_ more: [UInt8]) -> OutputPlace {
            defer { bytes += more }
            return OutputPlace(file: self, offset: bytes.count)
        }
    }

    private func contents(_ pieces: OutputPieces, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let count = try pieces.read(from: bytes.count, limit: limit) { bytes.append(contentsOf: $0) }
            #expect(count <= limit)
            if count == 0 { return bytes }
        }
    }

    @Test(arguments: 0..<8)
    func `what goes in comes out in its order, wherever it is`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pieces = OutputPieces(directory: NSTemporaryDirectory())
        let files = [Source(), Source()]
        var expected: [UInt8] = []
        // More pieces than it keeps a list of.
        for _ in 0..<(seed == 0 ? 9000 : 60) {
            let count = seed == 0 ? 3 : [0, 1, 100, 40_000].randomElement(using: &random)!
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let file = files.randomElement(using: &random)!
            let place = Bool.random(using: &random) ? file.add(bytes) : nil
            try bytes.withUnsafeBytes { try pieces.append($0, at: place) }
            expected += bytes
        }
        #expect(pieces.count == expected.count)
        #expect(try contents(pieces, limit: 10_000) == expected)
        #expect(try contents(pieces, limit: 77_777) == expected)
    }

    @Test func `what has a place takes none, and a file that is too short is an error`() throws {
        let pieces = OutputPieces(directory: "/proc/no/such/place")
        let file = Source()
        let bytes = [UInt8](repeating: 7, count: 300_000)
        try bytes.withUnsafeBytes { try pieces.append($0, at: file.add(bytes)) }
        #expect(!pieces.areSmall)
        #expect(try contents(pieces, limit: 1 << 16) == bytes)
        file.bytes.removeLast(1)
        #expect(throws: SystemError(EIO)) { try contents(pieces, limit: 1 << 16) }
    }
}
