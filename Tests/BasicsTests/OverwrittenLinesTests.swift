import Basics
import Testing

@Suite struct OverwrittenLinesTests {
    private func states(_ text: String) -> String? {
        Array(text.utf8).withUnsafeBytes(OverwrittenLines.lastStates).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        ("10%\r20%\r100%\n", "100%\n"),
        ("a\n10%\r20%\nb\n1\r2\n", "a\n20%\nb\n2\n"),
        ("10%\r20%\r\r\n", "20%\n"),
        ("50%\r     \rdone\n", "done\n"),
        ("50%\r     \r\n", "50%\n"),
        ("50%\r     \n", "50%\n"),
        ("\r10%\r20%", "20%"),
        ("10%\r20%\r", "20%\n"),
        ("\r\r\n", "\n"),
        ("a\r\n1\r2\r\nb", "a\r\n2\nb"),
    ])
    func `a line is as it was last`(text: String, shown: String) {
        #expect(states(text) == shown)
    }

    @Test(arguments: ["", "a", "a\n", "a\r\nb\r\n", "\r\n\n"])
    func `lines that nobody wrote over stay as they are`(text: String) {
        #expect(states(text) == nil)
    }
}
