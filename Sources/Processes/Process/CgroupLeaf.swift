internal import CLinux
internal import Glibc

/// A cgroup (v2) that holds the processes of one command at a time, wherever they go.
@EventLoopActor
final class CgroupLeaf {
    let folder: Int32
    let number: Int
    /// True once it has been killed. Linux also kills processes that start in such a cgroup later.
    private(set) var isSpent = false
    private let events: Int32
    /// The number of kills for memory already reported.
    private var toldKills: Int64 = 0

    /// Opens a leaf; nil if none is available, or if descriptors are scarce and needed for steps.
    init?(number: Int) {
        let opened = clinux_open_leaf(Int32(number))
        guard opened >= 0 else { return nil }
        events = openat(opened, "cgroup.events", O_RDONLY | O_CLOEXEC)
        folder = opened
        self.number = number
        guard events >= 0, !DescriptorLimit.isScarce(events) else {
            if events >= 0 { close(events) }
            close(folder)
            return nil
        }
    }

    deinit {
        close(events)
        close(folder)
    }

    /// True if a process is in it or below it, zombies not counted; nil if unknown.
    var isPopulated: Bool? {
        let answer = clinux_is_populated(events)
        return answer < 0 ? nil : answer > 0
    }

    /// The processes in it, without those of cgroups below; empty if it cannot be read.
    var members: [pid_t] {
        ProcessTable.withSpareDescriptor {
            let file = openat(folder, "cgroup.procs", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return [] }
            defer { close(file) }
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(file, &buffer, buffer.count)
                guard count > 0 else { break }
                text += buffer[..<count]
            }
            return text.split(separator: UInt8(ascii: "\n")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
        }
    }

    /// Kills everything in it and below, including processes that are forking. Returns false if the kernel cannot do
    /// that (before 5.14).
    func kill() -> Bool {
        ProcessTable.withSpareDescriptor {
            let file = openat(folder, "cgroup.kill", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            isSpent = true
            return write(file, "1", 1) == 1
        }
    }

    /// Returns true if the kernel has killed a process in it for want of memory since the last call; nil if it does
    /// not count.
    func takeKills() -> Bool? {
        let kills = clinux_oom_kills_in(folder)
        guard kills >= 0 else { return nil }
        defer { toldKills = kills }
        return kills > toldKills
    }
}
