import Basics
import Testing

@Suite struct JSONObjectTests {
    private func object(_ text: String) throws -> JSONObject {
        try #require(Array(text.utf8).withUnsafeBytes { JSONObject($0) })
    }

    @Test(arguments: [
        ("0", Duration.zero), ("1.5", .milliseconds(1500)), ("-0.25", .milliseconds(-250)),
        ("2.0000019", .seconds(2) + .microseconds(1)),
    ])
    func `a duration is exact to the microsecond`(digits: String, duration: Duration) throws {
        #expect(try object("{\"t\":\(digits)}").duration("t") == duration)
    }

    @Test(arguments: ["9223372036854775807", "-9223372036854775808", "1000000000000", "1e5", "\"1\"", "null"])
    func `what no run takes is no duration`(value: String) throws {
        #expect(try object("{\"t\":\(value)}").duration("t") == nil)
    }
}
