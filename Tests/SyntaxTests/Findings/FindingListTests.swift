import Syntax
import Testing

struct `A list of findings` {
    private let file = SourceFile(name: "t", text: String(repeating: "x", count: 5000))

    private func finding(_ severity: Diagnostic.Severity, at offset: Int) -> Diagnostic {
        Diagnostic(.unknownKey, "no", in: file, at: SourceRange(offset..<offset + 1), severity: severity)
    }

    @Test func `is sorted by place`() {
        var list = FindingList()
        for offset in [3, 1, 2] { list.add(.error) { finding(.error, at: offset) } }
        #expect(list.sorted.map(\.range.start) == [1, 2, 3])
        #expect(list.sorted.allSatisfy { $0.notes.isEmpty })
    }

    @Test func `keeps a thousand of each severity and says how many more there were`() {
        var list = FindingList()
        for offset in 0..<1500 { list.add(.warning) { finding(.warning, at: offset) } }
        list.add(.error) { finding(.error, at: 4000) }
        #expect(list.sorted.count == 1001)
        #expect(list.sorted.containErrors)
        #expect(list.sorted.last?.notes.map(\.message) == ["500 more findings not shown"])
    }
}
