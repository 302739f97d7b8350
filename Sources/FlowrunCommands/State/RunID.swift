internal import Basics
internal import Glibc

/// Ids of runs, such as `20261121T121845-1f3a9c`: the start in UTC to the second, and a random part.
///
/// They come back from files, sockets and command lines, and some become file names, so each reader must check the
/// form first.
enum RunID {
    private static let dateDigits = 8
    private static let timeDigits = 6
    private static let randomDigits = 6

    /// Makes a new id for a run that starts now.
    static func make() -> String {
        var run = ""
        for byte in Timestamp.text(secondsSince1970: Int64(time(nil))).utf8
        where byte != UInt8(ascii: "-") && byte != UInt8(ascii: ":") {
            run.unicodeScalars.append(UnicodeScalar(byte))
        }
        return run + "-" + UInt64.random(in: 0...UInt64.max).hexadecimal(digits: randomDigits)
    }

    /// True if a text has exactly the form of a run's id, so that it leads to no other folder.
    static func isValid(_ text: some StringProtocol) -> Bool {
        var bytes = Array(text.utf8)[...]
        return take(dateDigits, from: &bytes, isDigit) && take(1, from: &bytes) { $0 == UInt8(ascii: "T") }
            && take(timeDigits, from: &bytes, isDigit) && take(1, from: &bytes) { $0 == UInt8(ascii: "-") }
            && take(randomDigits, from: &bytes) { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            && bytes.isEmpty
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func take(_ count: Int, from bytes: inout ArraySlice<UInt8>, _ isRight: (UInt8) -> Bool) -> Bool {
        let piece = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return piece.count == count && piece.allSatisfy(isRight)
    }
}
