import Syntax
import Testing

@Suite struct PhraseTests {
    @Test(arguments: [
        ("short", "`short`"), ("two\nlines", "`two␤lines`"), ("0123456789", "`0123456789`"),
        ("0123456789a", "`012345678…`"), ("éééééééééééé", "`ééééééééé…`"),
    ])
    func `user text stands in backticks, on one line and not too long`(text: String, quoted: String) {
        #expect(Phrase.quoted(text, limit: 10) == quoted)
    }
}
