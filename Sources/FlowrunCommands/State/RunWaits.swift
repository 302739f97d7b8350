internal import Basics
internal import CLinux
internal import Glibc

/// The waits of runs inside of other runs, for all files of a user: each may close a ring in which nothing goes on.
///
/// A run that is inside of none waits before it has started anything, so that nothing waits for it. One that is inside
/// of a step keeps that step's run waiting, and so it is judged before it waits: under one lock, with all others.
final class RunWaits {
    /// A run that waits.
    struct Wait: Equatable {
        let run: String
        /// The runs in whose steps it was started, the nearest first. They wait for it.
        let above: [String]
        /// The runs whose claims it waits for.
        let targets: [String]
    }

    private let descriptor: Int32
    private var slot: Int?

    private static let fileName = "waits"
    private static var slotSize: off_t { 64 << 10 }
    private static let maximum = 1024

    /// Opens the list of a folder, and makes it if need be; nil if that fails.
    init?(in directory: StateDirectory) {
        descriptor = openat(
            directory.descriptor, Self.fileName, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
    }

    deinit { close(descriptor) }

    /// Enters the wait of this run, in place of an earlier one, until this value is gone. Returns the ring of runs that
    /// it would close, from the run waited for to one above, and does not enter it then; nil if it closes none.
    func enter(_ wait: Wait) throws(SystemError) -> [String]? {
        let lock = Self.slotSize * off_t(Self.maximum)
        guard clinux_lock_range(descriptor, lock, 1, 1) == 0 else { throw .last }
        defer { clinux_unlock_range(descriptor, lock, 1) }
        if let ring = Self.ring(closedBy: wait, among: others()) { return ring }
        if slot == nil {
            slot = (0..<Self.maximum).first {
                clinux_lock_range(descriptor, off_t($0) * Self.slotSize, Self.slotSize, 0) == 0
            }
        }
        guard let slot else { throw SystemError(EAGAIN) }
        let words = [wait.run, wait.above.joined(separator: ","), wait.targets.joined(separator: ",")]
        let line = Array("\(words.joined(separator: " "))\n".utf8)
        guard line.count <= Self.slotSize else { throw SystemError(E2BIG) }
        let count = pwrite(descriptor, line, line.count, off_t(slot) * Self.slotSize)
        guard count == line.count else { throw count < 0 ? .last : SystemError(ENOSPC) }
        return nil
    }

    /// Returns the waits of other runs that live.
    private func others() -> [Wait] {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return [] }
        return (0...min(Self.maximum - 1, Int((status.st_size - 1) / Self.slotSize))).compactMap { slot in
            let place = off_t(slot) * Self.slotSize
            guard clinux_range_is_locked(descriptor, place, Self.slotSize) != 0 else { return nil }
            let bytes = [UInt8](unsafeUninitializedCapacity: Int(Self.slotSize)) { buffer, count in
                count = max(0, pread(descriptor, buffer.baseAddress, buffer.count, place))
            }
            let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3 else { return nil }
            return Wait(run: String(words[0]), above: Self.runs(words[1]), targets: Self.runs(words[2]))
        }
    }

    private static func runs(_ text: Substring) -> [String] { text.split(separator: ",").map(String.init) }

    /// Returns the shortest way from a run that `wait` is for to a run that waits for it; nil if there is none.
    static func ring(closedBy wait: Wait, among others: [Wait]) -> [String]? {
        var before: [String: String] = [:]
        var queue = wait.targets
        var next = 0
        while next < queue.count {
            let run = queue[next]
            next += 1
            if run == wait.run || wait.above.contains(run) {
                var ring = [run]
                while let previous = before[ring[0]] { ring.insert(previous, at: 0) }
                return ring
            }
            for other in others where other.run == run || other.above.contains(run) {
                for target in other.targets where before[target] == nil && !wait.targets.contains(target) {
                    before[target] = run
                    queue.append(target)
                }
            }
        }
        return nil
    }
}
