internal import CLinux
internal import Glibc

/// A folder of cgroup v2 that the processes of one command at a time are in, wherever they go.
@EventLoopActor
final class CgroupLeaf {
    let folder: Int32
    let number: Int
    /// Whether it has been killed. Linux takes whoever begins in such a folder for one that it has to kill, also later.
    private(set) var isSpent = false
    private let events: Int32
    /// Kills for memory that were told before.
    private var toldKills: Int64 = 0

    /// nil where there is none to be had, or descriptors are wanted for steps.
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

    /// Whether anybody is in it, zombies not counted; nil if that cannot be told.
    var isPopulated: Bool? {
        let answer = clinux_is_populated(events)
        return answer < 0 ? nil : answer > 0
    }

    /// Whoever is in it, those of folders below not counted; none where it cannot be read.
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

    /// Kills all that is in it and below, also what is forking. Returns false where the kernel cannot (before 5.14).
    func kill() -> Bool {
        ProcessTable.withSpareDescriptor {
            let file = openat(folder, "cgroup.kill", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            isSpent = true
            return write(file, "1", 1) == 1
        }
    }

    /// Whether the kernel has killed something in it for memory since this was last asked; nil where nobody counts.
    func takeKills() -> Bool? {
        let kills = clinux_oom_kills_in(folder)
        guard kills >= 0 else { return nil }
        defer { toldKills = kills }
        return kills > toldKills
    }
}
