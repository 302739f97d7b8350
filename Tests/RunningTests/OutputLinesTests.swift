import FlowrunTestSupport
import Testing

@testable import Running

struct OutputLinesTests {
    private struct Piece: Equatable {
        let bytes: [UInt8]
        let isPartial: Bool
    }

    private func pieces(_ chunks: [[UInt8]]) -> [Piece] {
        var lines = OutputLines()
        var pieces: [Piece] = []
        for chunk in chunks {
            chunk.withUnsafeBytes { lines.append($0) { pieces.append(Piece(bytes: Array($0), isPartial: $1)) } }
        }
        lines.finish { pieces.append(Piece(bytes: Array($0), isPartial: $1)) }
        return pieces
    }

    private func pieces(_ chunks: [String]) -> [String] {
        pieces(chunks.map { Array($0.utf8) }).map {
            String(decoding: $0.bytes, as: UTF8.self) + ($0.isPartial ? "…" : "")
        }
    }

    @Test func `whole lines are one piece, an unfinished one waits for its end`() {
        #expect(pieces(["a\nb\nc", "d", "e\nf\n"]) == ["a\nb\n", "cde\nf\n"])
        #expect(pieces(["a\nb"]) == ["a\n", "b…"])
        #expect(pieces(["", "\n", ""]) == ["\n"])
        #expect(pieces([""]) == [])
    }

    @Test func `an unfinished line can be seen while it waits, its last part and whole characters only`() {
        var lines = OutputLines()
        for (chunk, seen) in [
            ("whole\n", ""), ("\r 4", "\r 4"), ("2%", "\r 42%"), ("\n", ""), ("\u{E9}", "\u{E9}"),
            (String(repeating: "é", count: 600) + "!", String(repeating: "é", count: 511) + "!"),
        ] {
            Array(chunk.utf8).withUnsafeBytes { lines.append($0) { _, _ in } }
            #expect(String(decoding: lines.unfinished, as: UTF8.self) == seen)
        }
        let torn: [UInt8] = [10, 97, 0xC3]
        torn.withUnsafeBytes { lines.append($0) { _, _ in } }
        #expect(lines.unfinished == [97])
    }

    @Test func `a long chunk is handed on as it is, behind the line it completes`() {
        let long = String(repeating: "long\n", count: 2000)
        #expect(pieces(["begin", "end\n" + long + "rest"]) == ["beginend\n", long, "rest…"])
    }

    @Test func `a progress bar beyond the limit is cut between two of its states`() {
        let states = String(repeating: "50%\r", count: 20_000)
        let first = String(repeating: "50%\r", count: OutputLines.limit / 4)
        let parts = pieces([states + "51%", "\n"])
        #expect(parts == [first + "…", states.dropFirst(first.count) + "51%\n"])
    }

    @Test func `a line beyond the limit comes in parts, cut between characters`() {
        let line = String(repeating: "é", count: OutputLines.limit)
        let found = pieces([Array("x\(line)".utf8), Array("\n".utf8)])
        #expect(found.dropLast().allSatisfy { $0.isPartial && String(validating: $0.bytes, as: UTF8.self) != nil })
        #expect(found.flatMap(\.bytes) == Array("x\(line)\n".utf8))
    }

    @Test func `no piece is longer than the limit, whatever comes at once, and none is cut without need`() {
        var random = SeededGenerator(seed: 22)
        for _ in 0..<60 {
            let longest = [10, 1000, OutputLines.limit, 3 * OutputLines.limit].randomElement(using: &random)!
            var chunks: [[UInt8]] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                var chunk: [UInt8] = []
                let size = Int.random(in: 0...5 * OutputLines.limit, using: &random)
                while chunk.count < size {
                    let line = Int.random(in: 0...longest, using: &random)
                    chunk += [UInt8](repeating: UInt8(ascii: "x"), count: line) + [10]
                }
                if Bool.random(using: &random) { chunk.removeLast(min(2, chunk.count)) }
                chunks.append(chunk)
            }
            let found = pieces(chunks)
            #expect(found.flatMap(\.bytes) == chunks.flatMap(\.self))
            #expect(found.allSatisfy { !$0.bytes.isEmpty && $0.bytes.count <= OutputLines.limit })
            #expect(found.allSatisfy { $0.isPartial == ($0.bytes.last != 10) })
            #expect(found.dropLast().allSatisfy { !$0.isPartial || $0.bytes.count == OutputLines.limit })
        }
    }

    @Test func `joined pieces are what was written, however it is cut, and every whole piece ends a line`() {
        var random = SeededGenerator(seed: 21)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0...20_000, using: &random)).map { _ in
                Bool.random(using: &random) ? UInt8(ascii: "x") : UInt8.random(in: 0...20, using: &random)
            }
            var chunks: [[UInt8]] = []
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + Int.random(in: 1...6000, using: &random))
                chunks.append(Array(bytes[start..<end]))
                start = end
            }
            let found = pieces(chunks)
            #expect(found.flatMap(\.bytes) == bytes)
            #expect(found.dropLast().allSatisfy { !$0.isPartial && $0.bytes.last == 10 })
        }
    }
}
