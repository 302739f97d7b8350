/// A set of runs in a chain of resumed runs, by their numbers from 0.
struct RunSet: Equatable {
    /// The first 64 runs; longer chains are rare.
    private var first: UInt64 = 0
    private var rest: [UInt64] = []

    static let none = RunSet()

    /// Makes the set of the runs from one number on, out of `count`.
    init(from start: Int, count: Int) {
        first = Self.word(0, from: start, count: count)
        if count > 64 { rest = (1...(count - 1) / 64).map { Self.word($0, from: start, count: count) } }
    }

    init(_ runs: some Sequence<Int>, count: Int) {
        self.init(from: count, count: count)
        for run in runs { self[run] = true }
    }

    private init() {}

    private static func word(_ index: Int, from start: Int, count: Int) -> UInt64 {
        let (low, high) = (max(0, start - index * 64), min(64, count - index * 64))
        return low < high ? (~0 << UInt64(low)) & (~0 >> UInt64(64 - high)) : 0
    }

    subscript(run: Int) -> Bool {
        get {
            if run < 64 { return first & 1 << UInt64(run) != 0 }
            return run / 64 <= rest.count && rest[run / 64 - 1] & 1 << UInt64(run % 64) != 0
        }
        set {
            let bit: UInt64 = 1 << UInt64(run % 64)
            if run < 64 {
                first = newValue ? first | bit : first & ~bit
            } else if run / 64 <= rest.count {
                rest[run / 64 - 1] = newValue ? rest[run / 64 - 1] | bit : rest[run / 64 - 1] & ~bit
            }
        }
    }

    mutating func formIntersection(_ other: RunSet) {
        first &= other.first
        guard !rest.isEmpty else { return }
        if other.rest.isEmpty { rest = [] } else { for index in rest.indices { rest[index] &= other.rest[index] } }
    }
}
