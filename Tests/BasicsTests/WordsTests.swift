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

    @Test func `whole microseconds are those of the components, however long a duration is`() {
        let far: [Duration] = [
            .zero, .nanoseconds(999), .nanoseconds(1000), .microseconds(-1), .nanoseconds(-999), .seconds(9.3),
            .seconds(37_779), .seconds(37_778), .seconds(9_000_000_000_000), .seconds(-37_779.5),
        ]
        var random = SystemRandomNumberGenerator()
        let others = (0..<1000).map { _ in Duration.nanoseconds(Int64(bitPattern: random.next())) }
        for duration in far + others {
            let (seconds, attoseconds) = duration.components
            let expected = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
            #expect(duration.wholeMicroseconds == Int(expected), "\(duration)")
        }
        #expect(Duration.seconds(Int64.max).wholeMicroseconds == .max)
    }
}
