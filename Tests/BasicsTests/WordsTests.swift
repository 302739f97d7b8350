import Basics
import Testing

struct WordsTests {
    /// In escaped form, lest a test's own name reach a terminal raw.
    @Test func `what a terminal would obey is shown in one notation`() {
        let pairs = [
            ("plain größe ✓", "plain größe ✓"),
            ("\u{1B}[2J\n\t\u{7F}", #"\x1b[2J\x0a\x09\x7f"#), ("\u{85}\u{A0}", "\\x85\u{A0}"),
            ("a\u{202E}b\u{2028}\u{FEFF}", #"a\u{202e}b\u{2028}\u{feff}"#), ("", ""),
        ]
        for (text, shown) in pairs { #expect(text.visible == shown) }
    }

    @Test func `one thing is singular`() {
        #expect([0, 1, 2].map { $0.counted("step") } == ["0 steps", "1 step", "2 steps"])
    }

    @Test(arguments: [
        (0, "0.000", "0.000s", "0s"), (4, "0.004", "0.004s", "0s"), (59_999, "59.999", "59.999s", "59s"),
        (62_456, "1:02.456", "1m02.4s", "1m02s"), (3_723_000, "1:02:03", "1h02m03s", "1h02m03s"),
        (360_000_000, "100:00:00", "100h00m00s", "100h00m00s"), (-5, "0.000", "0.000s", "0s"),
    ])
    func `times are cut off below their last digit`(
        milliseconds: Int, elapsed: String, duration: String, wholeSeconds: String
    ) {
        let time = Duration.milliseconds(milliseconds)
        var buffer = ByteBuffer()
        TimeText.append(elapsed: time, to: &buffer)
        #expect(buffer.text == elapsed)
        #expect(TimeText.duration(time) == duration)
        #expect(TimeText.wholeSeconds(time) == wholeSeconds)
    }
}
