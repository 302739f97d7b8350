internal import Glibc

/// Names of runs: `20261121T121845-1f3a9c`, sortable by time.
enum RunID {
    static func make() -> String {
        var parts = tm()
        var seconds = time(nil)
        gmtime_r(&seconds, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map(padded).joined()
        let clock = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)].map(padded).joined()
        let random = UInt32.random(in: 0..<1 << 24)
        let digits = String(random, radix: 16)
        return "\(date)T\(clock)-\(String(repeating: "0", count: 6 - digits.utf8.count))\(digits)"
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : String(number) }
}
