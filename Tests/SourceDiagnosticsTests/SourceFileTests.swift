import SourceDiagnostics
import Testing

struct `Places in a file` {
    private let file = SourceFile(name: "t", text: "ab\r\nç𝄞d\n\nlast")

    @Test func `count lines and Unicode scalars from 1`() {
        #expect(file.location(at: 0) == SourceLocation(line: 1, column: 1))
        #expect(file.location(at: 4) == SourceLocation(line: 2, column: 1))
        #expect(file.location(at: 6) == SourceLocation(line: 2, column: 2))
        #expect(file.location(at: 10) == SourceLocation(line: 2, column: 3))
        #expect(file.location(at: 12) == SourceLocation(line: 3, column: 1))
        #expect(file.location(at: 17) == SourceLocation(line: 4, column: 5))
    }

    @Test func `have lines without their ends`() {
        #expect(file.line(1).map(Array.init) == Array("ab".utf8))
        #expect(file.line(3).map(Array.init) == [])
        #expect(file.line(4).map(Array.init) == Array("last".utf8))
        #expect(file.line(5) == nil)
        #expect(file.line(0) == nil)
    }
}

struct `A suggestion` {
    @Test(arguments: [
        ("neds", "needs"), ("time-out", "timeout"), ("NEEDS", "needs"), ("rnu", "run"), ("xyz", nil), ("r", nil),
        ("continue-on-eror", "continue-on-error"),
    ])
    func `is the nearest word within two edits and a third of its length`(word: String, nearest: String?) {
        let words = ["needs", "timeout", "run", "continue-on-error"]
        #expect(Suggestion.nearest(to: word, among: words) == nearest)
    }
}
