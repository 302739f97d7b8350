internal import Basics
internal import Glibc

// The text of a slot: two lines of 64 bytes, each with its checksum, padded with spaces so that a shorter one covers a
// longer one. `PID RUN MARK STATE`, then number, process and count of claims in hexadecimal digits, and the run above;
// the digests of the claims and the path of the run's temporary folder follow.
extension RunLock {
    static let lineSize = 64
    private static var markDigits: Int { 10 }
    private static var numberDigits: Int { 12 }
    private static var countDigits: Int { 8 }

    // Without interpolation, which costs each start as much as the rest of its entry.
    static func line(_ holder: Holder) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(lineSize)
        line.append(contentsOf: String(holder.pid).utf8)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: holder.run.utf8)
        line.append(UInt8(ascii: " "))
        line.append(contentsOf: (holder.mark ?? 0).hexadecimal(digits: markDigits).utf8)
        let state = holder.state
        line.append(contentsOf: UnsafeBufferPointer(start: state.utf8Start, count: state.utf8CodeUnitCount))
        finish(&line)
        return line
    }

    static func secondLine(_ holder: Holder, claimCount: Int) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(lineSize)
        line.append(contentsOf: UInt64(holder.number).hexadecimal(digits: numberDigits).utf8)
        line.append(contentsOf: UInt64(holder.process).hexadecimal(digits: countDigits).utf8)
        line.append(contentsOf: UInt64(claimCount).hexadecimal(digits: countDigits).utf8)
        line.append(UInt8(ascii: " "))
        if let parent = holder.parent { line.append(contentsOf: parent.utf8) }
        finish(&line)
        return line
    }

    private static func finish(_ line: inout [UInt8]) {
        line.append(UInt8(ascii: " "))
        let sum = line.withUnsafeBytes { CRC32C.of($0) }
        line.append(contentsOf: UInt64(sum).hexadecimal(digits: CRC32C.digitCount).utf8)
        while line.count < lineSize - 1 { line.append(UInt8(ascii: " ")) }
        line.append(UInt8(ascii: "\n"))
    }

    /// Returns nil unless the bytes are digits.
    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var number: UInt64 = 0
        for byte in digits {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    private static func number32(_ digits: Slice<UnsafeRawBufferPointer>) -> Int32? {
        number(digits).flatMap { Int32(exactly: $0) }
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes), as: UTF8.self)
    }

    /// Reads the text between the run and the checksum: a mark, and the word of a state. Returns false if it is
    /// anything else.
    private static func read(_ rest: UnsafeRawBufferPointer, into holder: inout Holder) -> Bool {
        if isBlank(rest[...]) { return true }
        guard rest.count > markDigits, rest[0] == UInt8(ascii: " ") else { return false }
        guard let mark = number(rest[1...markDigits]) else { return false }
        holder.mark = mark == 0 ? nil : mark
        let state = rest[(markDigits + 1)...]
        let end = state.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? state.startIndex
        return holder.take(state: UnsafeRawBufferPointer(rebasing: state[..<end]))
    }

    private static func isBlank(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.allSatisfy { $0 == UInt8(ascii: " ") }
    }

    /// Returns the index of a line's last word if that is the checksum of everything before it.
    private static func startOfSum(in line: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard let last = line.lastIndex(where: { $0 != UInt8(ascii: " ") }), last - line.startIndex >= CRC32C.digitCount
        else { return nil }
        let start = last + 1 - CRC32C.digitCount
        let sum = CRC32C.of(UnsafeRawBufferPointer(rebasing: line[..<start]))
        return UInt64(sum).isHexadecimal(UnsafeRawBufferPointer(rebasing: line[start...last])) ? start : nil
    }

    /// Reads the head of a slot. The claims are nil if they may be any: there are too many to name, or only the first
    /// line can be read, as in a file of an older version.
    static func holder(in file: Int32, at place: off_t) -> (Holder, claimCount: Int?)? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * lineSize) { buffer in
            let count = pread(file, buffer.baseAddress, buffer.count, place)
            guard count > 0, let end = buffer.prefix(count).firstIndex(of: UInt8(ascii: "\n")),
                var holder = holder(in: UnsafeRawBufferPointer(buffer)[..<end])
            else { return nil }
            guard end == lineSize - 1, count == 2 * lineSize else { return (holder, nil) }
            let line = UnsafeRawBufferPointer(buffer)[lineSize..<(2 * lineSize - 1)]
            guard let sum = startOfSum(in: line) else { return (holder, nil) }
            let process = line.startIndex + numberDigits
            let claims = process + countDigits
            let parent = claims + countDigits
            guard parent + 2 <= sum, let number = number(line[..<process]), let pid = number32(line[process..<claims]),
                let claimCount = number32(line[claims..<parent])
            else { return (holder, nil) }
            (holder.number, holder.process) = (Int(number), pid)
            let above = text(line[(parent + 1)..<(sum - 1)])
            if RunID.isValid(above) { holder.parent = above }
            return (holder, claimCount <= mostClaims ? Int(claimCount) : nil)
        }
    }

    private static func holder(in line: Slice<UnsafeRawBufferPointer>) -> Holder? {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")), let pid = Int32(text(line[..<space])), pid > 0
        else { return nil }
        let run = line[(space + 1)...].prefix { $0 != UInt8(ascii: " ") }
        // Names of sockets are made of it, so nothing but an id may pass.
        guard RunID.isValid(text(run)) else { return nil }
        var holder = Holder(pid: pid, run: text(run))
        let rest = line[run.endIndex...]
        // Locks of older versions have neither mark nor checksum.
        if isBlank(rest) { return holder }
        guard let sum = startOfSum(in: line), sum > rest.startIndex else { return nil }
        return read(UnsafeRawBufferPointer(rebasing: rest[..<sum]), into: &holder) ? holder : nil
    }
}

extension RunLock.Holder {
    /// The word for the state in the file.
    fileprivate var state: StaticString { Self.state(hasEnded, keepsJournal, isWaiting) }

    private static func state(_ hasEnded: Bool, _ keepsJournal: Bool, _ isWaiting: Bool) -> StaticString {
        if isWaiting { return keepsJournal ? " waits" : " idle" }
        return switch (hasEnded, keepsJournal) {
        case (false, false): ""
        case (false, true): " journal"
        case (true, false): " ended"
        // The run was killed, and its leftovers have been removed.
        case (true, true): " swept"
        }
    }

    /// Returns false for a text that is no state.
    fileprivate mutating func take(state bytes: UnsafeRawBufferPointer) -> Bool {
        for bits in 0..<6 {
            let (ended, journal, waits) = (bits & 3 >= 2, bits & 1 == 1, bits >= 4)
            let word = Self.state(ended && !waits, journal, waits)
            guard word.utf8CodeUnitCount == bytes.count,
                bytes.isEmpty || memcmp(bytes.baseAddress!, word.utf8Start, bytes.count) == 0
            else { continue }
            (hasEnded, keepsJournal, isWaiting) = (ended && !waits, journal, waits)
            return true
        }
        return false
    }

    /// True if a process with its number exists, which may be another one by now.
    var isAlive: Bool { kill(pid, 0) == 0 || errno == EPERM }
}
