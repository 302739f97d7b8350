internal import Basics
internal import CLinux
internal import Glibc
internal import Processes

/// The processes that a dead run has left. They are found by the mark and the `FLOWRUN_RUN` that every process of a
/// step inherits, and by the leaves of cgroup v2 that contain them.
enum RunLeftovers {
    /// The most looks until they must be gone, two milliseconds apart.
    private static let looks = 5_000
    private static let lookInterval: UInt32 = 2_000

    /// Returns true if any of them lives. Throws if the machine does not let flowrun look for them.
    @EventLoopActor
    static func areThere(of run: String, mark: UInt64?) throws(SystemError) -> Bool {
        try !RunProcesses(mark: mark) { process throws(SystemError) in try hasVariable(process, of: run) }.find()
            .isEmpty
    }

    /// Kills them and waits until they are gone. `mark` is the part that their marks share, from the run's journal or
    /// lock; nil if unknown. Returns their number, and the ids of processes that could not be ended. Throws if the
    /// machine does not let flowrun look for them.
    @EventLoopActor
    static func end(
        of run: String, mark: UInt64?, looks: Int = Self.looks
    ) throws(SystemError) -> (count: Int, left: [Int32]) {
        let processes = RunProcesses(mark: mark) { process throws(SystemError) in
            try hasVariable(process, of: run)
        }
        defer { if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) } }
        var left = try processes.find()
        var seen = Set(left)
        // Processes that fork and end faster than a look takes are missing even from an empty list.
        processes.endMarked()
        for _ in 0..<looks {
            if let mark { clinux_remove_leaves(mark & UInt64(UInt32.max)) }
            left = try processes.find()
            guard !left.isEmpty else { return (seen.count, []) }
            seen.formUnion(left)
            for process in left { try processes.kill(process) }
            usleep(lookInterval)
        }
        return (seen.count, left)
    }

    /// Returns false for processes that have ended or belong to another user, whose environment cannot be read.
    private static func hasVariable(_ process: Int32, of run: String) throws(SystemError) -> Bool {
        let file = open("/proc/\(process)/environ", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if [ENOENT, ESRCH, EACCES, EPERM].contains(errno) { return false }
            throw .last
        }
        defer { close(file) }
        do throws(SystemError) {
            let wanted = Array("FLOWRUN_RUN=\(run)".utf8)
            return try WholeFile.read(file).split(separator: 0).contains { $0.elementsEqual(wanted) }
        } catch {
            if error.number == ESRCH { return false }
            throw error
        }
    }
}

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
