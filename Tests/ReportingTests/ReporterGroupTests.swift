import Reporting
import RunEvents
import Testing

@Suite struct ReporterGroupTests {
    private final class Journal {
        var entries: [String] = []
    }

    private final class Scribe: Reporter {
        let name: String
        let journal: Journal
        let wish: Duration?

        init(_ name: String, _ journal: Journal, wish: Duration?) {
            self.name = name
            self.journal = journal
            self.wish = wish
        }

        func report(_ event: RunEvent) { journal.entries.append("\(name) \(event.sequence)") }

        func tick(at elapsed: Duration) -> Duration? {
            journal.entries.append("\(name) tick")
            return wish
        }
    }

    @Test func `each reporter gets every event in order and the earliest wish counts`() {
        let journal = Journal()
        let group = ReporterGroup([
            Scribe("a", journal, wish: nil), Scribe("b", journal, wish: .seconds(9)),
            Scribe("c", journal, wish: .seconds(3)),
        ])
        for sequence in 0...1 {
            group.report(
                RunEvent(sequence: sequence, wallClock: 0, elapsed: .zero, kind: .groupStarted(group: "g")))
        }
        #expect(group.tick(at: .seconds(1)) == .seconds(3))
        #expect(journal.entries == ["a 0", "b 0", "c 0", "a 1", "b 1", "c 1", "a tick", "b tick", "c tick"])
        #expect(ReporterGroup([]).tick(at: .zero) == nil)
    }
}
