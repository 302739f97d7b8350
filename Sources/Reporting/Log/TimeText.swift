/// Times as the text log and the live region show them; everything below the last digit is cut off.
enum TimeText {
    /// Since the start of the run: `1.204`, `2:03.004`, `1:02:03`; at most nine characters in the first 99 hours.
    static func elapsed(_ duration: Duration) -> String {
        let milliseconds = milliseconds(duration)
        let seconds = milliseconds / 1000
        let fraction = "." + padded(milliseconds % 1000, 3)
        if seconds < 60 { return "\(seconds)" + fraction }
        if seconds < 3600 { return "\(seconds / 60):" + padded(seconds % 60, 2) + fraction }
        return "\(seconds / 3600):" + padded(seconds / 60 % 60, 2) + ":" + padded(seconds % 60, 2)
    }

    /// How long something took: `0.004s`, `1m02.4s`, `1h02m03s`.
    static func duration(_ duration: Duration) -> String {
        let milliseconds = milliseconds(duration)
        let seconds = milliseconds / 1000
        if seconds < 60 { return "\(seconds)." + padded(milliseconds % 1000, 3) + "s" }
        if seconds < 3600 { return "\(seconds / 60)m" + padded(seconds % 60, 2) + ".\(milliseconds % 1000 / 100)s" }
        return wholeSeconds(duration)
    }

    /// How long something has been going on: `4s`, `1m02s`, `1h02m03s`.
    static func wholeSeconds(_ duration: Duration) -> String {
        let seconds = milliseconds(duration) / 1000
        if seconds < 60 { return "\(seconds)s" }
        if seconds < 3600 { return "\(seconds / 60)m" + padded(seconds % 60, 2) + "s" }
        return "\(seconds / 3600)h" + padded(seconds / 60 % 60, 2) + "m" + padded(seconds % 60, 2) + "s"
    }

    private static func milliseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    private static func padded(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }
}
