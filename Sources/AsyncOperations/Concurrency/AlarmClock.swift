internal import HeapModule
internal import Platform

/// Rings at times of the continuous clock, on one thread for the whole process, so that tasks that block all threads
/// of the pool do not delay it. A cancelled ring leaves its time behind, until there are more than 64 times and over
/// half of them are cancelled.
final class AlarmClock: Sendable {
    static let shared = AlarmClock()

    private struct Entry: Comparable {
        let time: ContinuousClock.Instant
        let number: UInt64

        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.number) < (right.time, right.number) }
    }

    private struct State {
        var last: UInt64 = 0
        /// The times, including those of cancelled rings.
        var heap = Heap<Entry>()
        var rings: [UInt64: @Sendable () -> Void] = [:]
        /// Created by the first ring; nil if the system has no thread for it.
        var sleeper: Platform.Sleeper?
        /// The time at which the thread wakes; nil if it sleeps until the next ring is requested.
        var wakeTime: ContinuousClock.Instant?
    }

    private let state = Lock(State())

    /// The number of stored times, including those of cancelled rings.
    var count: Int { state.withLock { $0.heap.count } }

    /// Calls `ring` at `time`, never earlier, on the clock's thread: it must not block and must not run user code.
    /// Returns nil if the system has no thread available.
    func ring(at time: ContinuousClock.Instant, _ ring: @escaping @Sendable () -> Void) -> UInt64? {
        state.withLock { state in
            guard let sleeper = begun(&state) else { return nil }
            state.last += 1
            state.heap.insert(Entry(time: time, number: state.last))
            state.rings[state.last] = ring
            if state.wakeTime.map({ time < $0 }) ?? true {
                state.wakeTime = time
                sleeper.wake(at: time)
            }
            return state.last
        }
    }

    /// Cancels a ring. Does nothing if it has rung or is about to.
    func cancel(_ number: UInt64) {
        // Released outside the lock.
        _ = state.withLock { state -> (@Sendable () -> Void)? in
            guard let ring = state.rings.removeValue(forKey: number) else { return nil }
            if state.heap.count > 64, state.heap.count > 2 * state.rings.count {
                let live = state.heap.unordered.filter { state.rings[$0.number] != nil }
                state.heap = Heap(live)
            }
            return ring
        }
    }

    private func begun(_ state: inout State) -> Platform.Sleeper? {
        if let sleeper = state.sleeper { return sleeper }
        do throws(Platform.NoThreadError) {
            let sleeper = Platform.Sleeper()
            try Platform.startThread { [self] in
                while true {
                    sleeper.sleep()
                    for ring in due(sleeper) { ring() }
                }
            }
            state.sleeper = sleeper
            return sleeper
        } catch {
            return nil
        }
    }

    private func due(_ sleeper: Platform.Sleeper) -> [@Sendable () -> Void] {
        let now = ContinuousClock.now
        return state.withLock { state in
            var due: [@Sendable () -> Void] = []
            while let first = state.heap.min, first.time <= now || state.rings[first.number] == nil {
                state.heap.removeMin()
                if let ring = state.rings.removeValue(forKey: first.number) { due.append(ring) }
            }
            state.wakeTime = state.heap.min?.time
            if let next = state.wakeTime { sleeper.wake(at: next) }
            return due
        }
    }
}
