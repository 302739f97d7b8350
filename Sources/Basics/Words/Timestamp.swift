internal import Glibc

/// A wall-clock time as RFC 3339 in UTC, `2026-01-31T23:59:59.123456Z`, without a calendar library.
package enum Timestamp {
    /// Returns the time to the second and without the zone: `2026-01-31T23:59:59`. gmtime(3) would read the zone
    /// files.
    package static func text(secondsSince1970: Int64) -> String {
        var buffer = ByteBuffer(capacity: 32)
        append(microseconds: secondsSince1970 * 1_000_000, to: &buffer)
        return buffer.withUnsafeBytes { String(decoding: $0.prefix { $0 != UInt8(ascii: ".") }, as: UTF8.self) }
    }

    /// Appends the time of `microseconds` since 1970, for years 0000 to 9999, which have four digits.
    package static func append(microseconds: Int64, to buffer: inout ByteBuffer) {
        let (days, ofDay) = floorDivide(microseconds, by: 86_400_000_000)
        let (year, month, day) = civilDate(daysSince1970: days)
        let (seconds, fraction) = floorDivide(ofDay, by: 1_000_000)
        let (century, ofCentury) = max(0, year).quotientAndRemainder(dividingBy: 100)
        buffer.append(pair: century)
        buffer.append(pair: ofCentury)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(pair: month)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(pair: day)
        buffer.append(UInt8(ascii: "T"))
        buffer.append(pair: seconds / 3600)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(pair: seconds / 60 % 60)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(pair: seconds % 60)
        buffer.append(UInt8(ascii: "."))
        appendFraction(fraction, to: &buffer)
    }

    /// Appends times of which many are in the same second: its digits are made once.
    package struct Writer {
        private var second = Int64.min
        /// From the year to the point.
        private var digits: InlineArray<20, UInt8> = .init(repeating: 0)

        package init() {}

        package mutating func append(microseconds: Int64, to buffer: inout ByteBuffer) {
            let (second, fraction) = floorDivide(microseconds, by: 1_000_000)
            guard second == self.second else {
                let start = buffer.count
                Timestamp.append(microseconds: microseconds, to: &buffer)
                buffer.withUnsafeBytes { for place in 0..<digits.count { digits[place] = $0[start + place] } }
                self.second = second
                return
            }
            digits.span.withUnsafeBytes { buffer.append($0) }
            appendFraction(fraction, to: &buffer)
        }
    }

    private static func appendFraction(_ microseconds: Int64, to buffer: inout ByteBuffer) {
        buffer.append(decimal: UInt(microseconds), padding: 6)
        buffer.append(UInt8(ascii: "Z"))
    }

    /// Parses a time in the form that `append` writes, as microseconds since 1970; nil for any other text.
    package static func microseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let form = Array("0000-00-00T00:00:00.000000Z".utf8)
        guard bytes.count == form.count else { return nil }
        var numbers: [Int64] = [0]
        for (byte, expected) in zip(bytes, form) {
            if expected == UInt8(ascii: "0") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            } else {
                guard byte == expected else { return nil }
                numbers.append(0)
            }
        }
        let days = days(year: numbers[0], month: numbers[1], day: numbers[2])
        let seconds = ((days * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
        return seconds * 1_000_000 + numbers[6]
    }

    /// The inverse of `civilDate`.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the Gregorian date, computed in eras of 400 years that start on 1 March, so that the leap day comes
    /// last.
    static func civilDate(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(daysSince1970 + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floorDivide(_ number: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

/// The system's wall clock, in time since 1970. It jumps when it is set.
package enum WallClock {
    package static var microseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// The time of the last change of a file in an open folder, or of a link there; nil if there is none.
    package static func lastChange(of name: String, in folder: Int32) -> Duration? {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        return .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
    }
}
