#if FLOWRUN_SANITIZE
    import Platform

    private typealias Mutex = PosixMutex
#else
    import Synchronization
#endif

/// A clock that stands still until a test moves it, so that hours cost nothing and both orders of two things that
/// happen at one instant can be had.
package final class ManualClock: Clock, Sendable {
    package struct Instant: InstantProtocol {
        package var offset: Duration

        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var minimumResolution: Duration { .nanoseconds(1) }

    /// How many tasks sleep on the clock now.
    package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isOver, watchers) = state.withLock { state in
                    if deadline <= state.now { return (true, [CheckedContinuation<Void, Never>]()) }
                    guard !Task.isCancelled else { return (true, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    let woken = state.watchers.filter { deadline <= $0.deadline }.map(\.continuation)
                    state.watchers.removeAll { deadline <= $0.deadline }
                    return (false, woken)
                }
                if isOver { continuation.resume() }
                for watcher in watchers { watcher.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the clock, and wakes whoever slept until then, the earliest first. Waits for nobody.
    package func move(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let now = state.now
            let due = state.sleepers.filter { $0.value.deadline <= now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// Waits until somebody sleeps who is woken by moving the clock so far, and moves it.
    package func advance(by duration: Duration) async {
        await withCheckedContinuation { continuation in
            let isAwaited = state.withLock { state in
                let deadline = state.now.advanced(by: duration)
                if state.sleepers.values.contains(where: { $0.deadline <= deadline }) { return true }
                state.watchers.append((deadline, continuation))
                return false
            }
            if isAwaited { continuation.resume() }
        }
        move(by: duration)
    }

    /// Moves the clock to where the next sleeper wakes, and wakes it; false where nobody sleeps. Waits for nobody.
    package func moveToNextDeadline() -> Bool {
        guard
            let wait = state.withLock({ state in
                state.sleepers.values.map { $0.deadline.offset - state.now.offset }.min()
            })
        else { return false }
        move(by: wait)
        return true
    }
}
