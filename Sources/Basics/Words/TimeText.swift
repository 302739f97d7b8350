/// Times as the text log and the live region show them; truncated, not rounded.
package enum TimeText {
    /// Appends the time since the start of the run: `1.204`, `2:03.004`, `1:02:03`; at most nine bytes in the first
    /// 99 hours.
    package static func append(elapsed duration: Duration, to buffer: inout ByteBuffer) {
        let milliseconds = milliseconds(duration)
        let seconds = milliseconds / 1000
        if seconds < 60 {
            buffer.append(decimal: seconds)
        } else if seconds < 3600 {
            buffer.append(decimal: seconds / 60)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(decimal: seconds % 60, padding: 2)
        } else {
            buffer.append(decimal: seconds / 3600)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(decimal: seconds / 60 % 60, padding: 2)
            buffer.append(UInt8(ascii: ":"))
            buffer.append(decimal: seconds % 60, padding: 2)
            return
        }
        buffer.append(UInt8(ascii: "."))
        buffer.append(decimal: milliseconds % 1000, padding: 3)
    }

    /// Appends the duration of something that has ended: `0.004s`, `1m02.4s`, `1h02m03s`.
    package static func append(_ duration: Duration, to buffer: inout ByteBuffer) {
        let milliseconds = milliseconds(duration)
        let seconds = milliseconds / 1000
        guard seconds < 3600 else { return append(wholeSeconds: duration, to: &buffer) }
        if seconds < 60 {
            buffer.append(decimal: seconds)
            buffer.append(UInt8(ascii: "."))
            buffer.append(decimal: milliseconds % 1000, padding: 3)
        } else {
            buffer.append(decimal: seconds / 60)
            buffer.append(UInt8(ascii: "m"))
            buffer.append(decimal: seconds % 60, padding: 2)
            buffer.append(UInt8(ascii: "."))
            buffer.append(decimal: milliseconds % 1000 / 100)
        }
        buffer.append(UInt8(ascii: "s"))
    }

    /// Appends the duration of something that still runs: `4s`, `1m02s`, `1h02m03s`.
    package static func append(wholeSeconds duration: Duration, to buffer: inout ByteBuffer) {
        let seconds = milliseconds(duration) / 1000
        if seconds >= 3600 {
            buffer.append(decimal: seconds / 3600)
            buffer.append(UInt8(ascii: "h"))
        }
        if seconds >= 60 {
            buffer.append(decimal: seconds / 60 % 60, padding: seconds >= 3600 ? 2 : 1)
            buffer.append(UInt8(ascii: "m"))
        }
        buffer.append(decimal: seconds % 60, padding: seconds >= 60 ? 2 : 1)
        buffer.append(UInt8(ascii: "s"))
    }

    package static func duration(_ duration: Duration) -> String {
        var buffer = ByteBuffer(capacity: 32)
        append(duration, to: &buffer)
        return buffer.text
    }

    package static func wholeSeconds(_ duration: Duration) -> String {
        var buffer = ByteBuffer(capacity: 32)
        append(wholeSeconds: duration, to: &buffer)
        return buffer.text
    }

    private static func milliseconds(_ duration: Duration) -> UInt {
        UInt(clamping: duration.wholeMicroseconds / 1000)
    }
}

extension Duration {
    /// The duration in whole microseconds, rounded toward zero and clamped to the range of `Int`.
    ///
    /// 10^12 is 2^12 * 5^12: after the shift by 12, durations of up to ten hours fit in 64 bits, and dividing those
    /// takes a tenth of the time that 128 bits take. `components` makes three divisions of 128 bits.
    package var wholeMicroseconds: Int {
        let shifted = attoseconds.magnitude >> 12
        let magnitude =
            if let short = UInt64(exactly: shifted) {
                Int(clamping: short / 244_140_625)
            } else {
                Int(clamping: shifted / 244_140_625)
            }
        return self < .zero ? -magnitude : magnitude
    }
}
