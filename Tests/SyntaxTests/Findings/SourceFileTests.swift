import Testing

@testable import Syntax

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

extension `A suggestion` {
    @Test(arguments: [
        ("kitten", "sitting", nil), ("abcd", "abdc", 1), ("abcd", "badc", 2), ("abc", "abc", 0), ("", "ab", 2),
        ("ab", "", 2), ("abcdef", "abef", 2), ("abcdef", "bcdefg", 2), ("abc", "abcdef", nil), ("ca", "abc", nil),
        ("aaaaaaaa", "aaaaaaab", 1), ("xabcdefgh", "abcdefghx", 2), ("xyabcdefgh", "abcdefghx", nil),
    ])
    func `counts insertions, deletions, substitutions and swaps up to its limit`(
        left: String, right: String, distance: Int?
    ) {
        let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        #expect(Suggestion.distance(left, right, limit: 2) == distance)
        #expect(Suggestion.distance(right, left, limit: 2) == distance)
    }

    @Test func `ends when its work is spent, long before everything is compared with everything`() {
        let words = (0..<3000).map { String(repeating: "x", count: 120) + String(100_000 + $0) }
        var suggestion = Suggestion(work: 1 << 20)
        var found = 0
        for word in words where suggestion.nearest(to: word + "y", among: words) != nil { found += 1 }
        #expect(suggestion.isSpent && found > 0 && found < 10)
        #expect(suggestion.nearest(to: "nedes", among: ["needs"]) == nil)
    }
}

struct `Files that are read with another` {
    @Test func `each place is in one of them`() throws {
        let first = SourceFile(name: "a", text: "one\ntwo\n")
        let second = try #require(first.add(name: "b", bytes: Array("three\nfour".utf8)))
        let third = try #require(first.add(name: "c", bytes: []))
        #expect([first.start, second.start, third.start] == [0, 9, 20])
        let word = SourceRange(second.start + 6..<second.start + 10)
        #expect(first.text(in: word) == "four" && second.text(in: word) == "four")
        #expect(first.location(at: word.lowerOffset) == SourceLocation(line: 2, column: 1))
        #expect(first.line(at: word.lowerOffset) == 2 && first.line(at: 5) == 2)
        #expect(first.file(at: 8) === first && first.file(at: 9) === second)
        #expect(first.file(at: 19) === second && first.file(at: 20) === third)
    }

    @Test func `a finding shows the lines of all files that it speaks of`() throws {
        let first = SourceFile(name: "a", text: "one\ntwo\n")
        let second = try #require(first.add(name: "b", bytes: Array("three\nfour".utf8)))
        let finding = Diagnostic(
            .unknownKey, "look", in: first, at: SourceRange(second.start + 6..<second.start + 10),
            notes: [.init("here too", at: SourceRange(4..<7))])
        #expect(finding.file === second)
        #expect(
            DiagnosticRenderer().render(finding) == """
                b:2:1: error[FR0201]: look
                  2 | four
                    | ^^^^
                  note: a:2:1: here too
                  2 | two
                    | ^^^

                """)
    }
}
