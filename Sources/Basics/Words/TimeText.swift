/// Times as the text log and the live region show them; everything below the last digit is cut off.
package enum TimeText {
    /// Since the start of the run: `1.204`, `2:03.004`, `1:02:03`; at most nine bytes in the first 99 hours.
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

    /// How long something took: `0.004s`, `1m02.4s`, `1h02m03s`.
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

    /// How long something has been going on: `4s`, `1m02s`, `1h02m03s`.
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
