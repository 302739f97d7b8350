import FlowrunTestSupport
import Foundation
import Testing

@testable import Basics

@Suite struct TimestampTests {
    private func written(_ microseconds: Int64) -> String {
        var buffer = ByteBuffer()
        Timestamp.append(microseconds: microseconds, to: &buffer)
        return buffer.text
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.999999Z"),
        (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
        (1_767_225_599_123_456, "2025-12-31T23:59:59.123456Z"),
        (4_107_542_400_000_001, "2100-03-01T00:00:00.000001Z"),
        (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
    ])
    func `times are RFC 3339 in UTC with microseconds`(microseconds: Int64, text: String) {
        #expect(written(microseconds) == text)
    }

    @Test func `a writer of many times writes each as it is alone`() {
        var random = SeededGenerator(seed: 6)
        var writer = Timestamp.Writer()
        var time: Int64 = 1_767_225_599_123_456
        for _ in 0..<2000 {
            time += Int64.random(in: -300_000...400_000, using: &random)
            var buffer = ByteBuffer(capacity: 1)
            writer.append(microseconds: time, to: &buffer)
            #expect(buffer.text == written(time))
        }
    }

    @Test func `dates agree with a calendar library from 1600 to 2400`() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0)!
        for days in stride(from: Int64(-135_140), through: 157_053, by: 37) {
            let date = Date(timeIntervalSince1970: Double(days) * 86_400)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let (year, month, day) = Timestamp.civilDate(daysSince1970: days)
            #expect("\(year) \(month) \(day)" == "\(parts.year!) \(parts.month!) \(parts.day!)")
        }
    }
}
