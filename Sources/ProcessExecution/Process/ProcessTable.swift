internal import Glibc

/// All processes of the machine, as /proc shows them. One look serves all teardowns of the same moment: stopping four
/// hundred steps at once does not take four hundred walks through /proc.
@EventLoopActor
enum ProcessTable {
    struct Entry {
        let pid: pid_t
        let group: pid_t
        let session: pid_t
    }

    private static var entries: [Entry] = []
    private static var taken: EventLoopClock.Instant?
    /// How long a look may be used. Whoever acts on an entry looks at that process again.
    private static let lifetime = Duration.milliseconds(5)

    /// The living processes of a session; nil where the machine does not let flowrun look. That there are none is never
    /// said from an old look.
    static func members(of session: pid_t) -> [Entry]? {
        let now = EventLoopClock().now
        if let taken, taken.advanced(by: lifetime) > now {
            let known = entries.filter { $0.session == session }
            if !known.isEmpty { return known }
        }
        taken = nil
        guard let seen = look() else { return nil }
        entries = seen
        taken = now
        return entries.filter { $0.session == session }
    }

    /// A process that is neither gone nor a zombie; nil otherwise.
    static func entry(of pid: pid_t) -> Entry? {
        let descriptor = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { buffer -> Entry? in
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return nil }
            // pid (name) state ppid pgrp session: the name may hold anything, its last parenthesis ends it.
            let text = buffer.prefix(count)
            guard let end = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
            let fields = text[(end + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 4)
            guard fields.count > 3, fields[0].first != UInt8(ascii: "Z"), fields[0].first != UInt8(ascii: "X"),
                let group = pid_t(String(decoding: fields[2], as: UTF8.self)),
                let session = pid_t(String(decoding: fields[3], as: UTF8.self))
            else { return nil }
            return Entry(pid: pid, group: group, session: session)
        }
    }

    private static func look() -> [Entry]? {
        guard let folder = opendir("/proc") else { return nil }
        defer { closedir(folder) }
        var entries: [Entry] = []
        while let name = readdir(folder) {
            let pid = withUnsafePointer(to: &name.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { atoi($0) }
            }
            guard pid > 0 else { continue }
            errno = 0
            if let entry = entry(of: pid) {
                entries.append(entry)
            } else if errno == EMFILE || errno == ENFILE || errno == ENOMEM {
                return nil
            }
        }
        return entries
    }
}
