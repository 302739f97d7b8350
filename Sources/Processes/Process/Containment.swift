internal import CLinux
internal import Glibc

/// Holds the processes of a run together: by marks that they inherit, and by a guard that adopts processes that lose
/// their parent.
@EventLoopActor
final class Containment {
    static let shared = Containment()

    /// The means to recognize the processes of a command. The raw value is its name in the log.
    enum Layer: String {
        /// By their mark and by the cgroup that they start in.
        case cgroup
        /// By their mark, wherever they go; none can leave unseen by the guard.
        case guarded = "guard"
        /// By their mark, or by their session if none can be set; a process that leaves both unseen is not found.
        case session
        /// Not at all: they may outlive their command.
        case detached
    }

    /// The run's part of the marks; nil if none can be set because that limit is already in use.
    let run: UInt64?
    /// The list of the guard's children; -1 without a guard, or if the kernel does not list them.
    private let children: Int32
    /// The runner's own list of children, opened by the first look; nil before.
    private var ownChildren: Int32?
    /// The unreaped first processes of commands.
    private var leaders: [pid_t] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let runner = getpid()
    private var commands: UInt64 = 0
    /// Leaves without processes.
    private var leaves: [CgroupLeaf] = []
    private var leafCount = 0
    /// Numbers of removed leaves.
    private var freeNumbers: [Int] = []
    private var hasLeaves = true
    /// The number of kills for memory already reported.
    private var toldKills: Int64 = 0

    private init() {
        let known = clinux_guard()?.pointee
        children = known?.children ?? -1
        let mark = known?.mark ?? clinux_make_mark()
        run = mark == 0 ? nil : ProcessMark(rawValue: mark).run
        ProcessTable.reserve()
    }

    var layer: Layer { run != nil && children >= 0 ? .guarded : .session }

    /// Returns the mark of a new command; nil if none can be set.
    func makeMark(isDetached: Bool = false) -> ProcessMark? {
        guard let run else { return nil }
        guard !isDetached else { return ProcessMark(run: run, command: 0) }
        commands += 1
        return ProcessMark(run: run, command: commands)
    }

    // MARK: Leaves

    /// Returns a leaf for a new command; nil if none is available.
    func takeLeaf() -> CgroupLeaf? {
        if let leaf = leaves.popLast() { return leaf }
        guard hasLeaves else { return nil }
        let number = freeNumbers.popLast() ?? leafCount
        guard let leaf = CgroupLeaf(number: number) else {
            hasLeaves = false
            return nil
        }
        leafCount = max(leafCount, number + 1)
        return leaf
    }

    /// Takes back a leaf, which must not contain any process.
    func giveBack(_ leaf: CgroupLeaf) {
        guard leaf.isSpent else { return leaves.append(leaf) }
        // A leaf that is still in use is removed by the guard.
        if clinux_remove_leaf(Int32(leaf.number)) == 0 { freeNumbers.append(leaf.number) }
    }

    /// Stops using leaves: the kernel does not let processes into them.
    func doWithoutLeaves() {
        hasLeaves = false
        leaves = []
    }

    /// Returns true if the kernel has killed a process for want of memory since the last call, in flowrun's own
    /// cgroup or, if that does not count, on the machine.
    func takeKills() -> Bool {
        let kills = clinux_oom_kills()
        defer { toldKills = max(toldKills, kills) }
        return kills > toldKills
    }

    // MARK: Orphans

    /// Notes a process that flowrun has started.
    func began(_ leader: pid_t) { leaders.append(leader) }

    /// Notes a process that has been reaped.
    func reaped(_ leader: pid_t) {
        guard let index = leaders.lastIndex(of: leader) else { return }
        leaders.swapAt(index, leaders.endIndex - 1)
        leaders.removeLast()
    }

    /// Returns the processes of the run that have lost their parent and, with `includingStrangers`, those that
    /// another process made children of flowrun (`CLONE_PARENT`); zombies included, in no order. nil if they are not
    /// known: without a guard, or if there are more than a look shows.
    ///
    /// With the strangers, an empty list is proof: every remaining process of a command whose first one is reaped
    /// descends from one of these.
    func orphans(includingStrangers: Bool) -> [pid_t]? {
        // In this order: processes left by a stranger that ends are orphans by the time the orphans are read.
        guard children >= 0, let strangers = includingStrangers ? strangers : [] else { return nil }
        guard let count = readChildren(children) else { return nil }
        // The kernel's list can lack entries only after one that it shows, and the runner is its first.
        var isWhole = false
        let sentinel = clinux_sentinel()
        var found = strangers
        forEachNumber(count) { number in
            if number == runner { isWhole = true } else if number != sentinel { found.append(number) }
        }
        // A list without the runner is that of a dead guard.
        return isWhole ? found : nil
    }

    /// Children of flowrun that it has not started; reaps those that are zombies. nil if they are not known.
    private var strangers: [pid_t]? {
        if ownChildren == nil { ownChildren = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC) }
        guard let file = ownChildren, file >= 0 else { return nil }
        guard let count = readChildren(file) else { return nil }
        var found: [pid_t] = []
        var known = 0
        forEachNumber(count) { number in
            if leaders.contains(number) { known += 1 } else { found.append(number) }
        }
        guard known == leaders.count else { return nil }
        return found.filter { waitpid($0, nil, WNOHANG) != $0 }
    }

    private func forEachNumber(_ count: Int, _ body: (pid_t) -> Void) {
        var number: pid_t = 0
        for byte in buffer[..<count] {
            if byte == UInt8(ascii: " ") {
                body(number)
                number = 0
            } else {
                number = number &* 10 &+ pid_t(byte) &- 48
            }
        }
    }

    /// Reads a list of children into `buffer`. Returns its length in bytes; nil if it cannot be read as a whole.
    private func readChildren(_ children: Int32) -> Int? {
        let count = pread(children, buffer.baseAddress, buffer.count, 0)
        guard count >= 0 else { return nil }
        // The kernel gives a page at a time, at most; a number takes less than sixteen bytes.
        if count < min(Int(getpagesize()), buffer.count) - 16 { return count }
        // The guard reaps between two pieces, so an entry may slip from the second into the first: a list that reads
        // the same twice is whole.
        var before: [UInt8]?
        for _ in 0..<8 {
            guard let whole = readChildrenByPieces(children) else { return nil }
            if whole == before { return whole.count }
            before = whole
        }
        return nil
    }

    private func readChildrenByPieces(_ children: Int32) -> [UInt8]? {
        var size = 0
        while size < buffer.count - 16 {
            let more = pread(children, buffer.baseAddress! + size, buffer.count - size, off_t(size))
            guard more >= 0 else { return nil }
            if more == 0 { return Array(buffer[..<size]) }
            size += more
        }
        return nil
    }
}
