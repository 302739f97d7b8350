internal import Glibc
internal import Reporting

/// Names of runs: `20261121T121845-1f3a9c`, the time in UTC and something random, sortable by time.
enum RunID {
    static func make() -> String {
        let time = Timestamp.text(secondsSince1970: Int64(time(nil))).filter { $0 != "-" && $0 != ":" }
        let digits = String(UInt32.random(in: 0..<1 << 24), radix: 16)
        return "\(time)-\(String(repeating: "0", count: 6 - digits.utf8.count))\(digits)"
    }
}
