import Foundation
import Synchronization

/// Lets only so many programs run at once, in the order in which they asked.
final class RunSlots: Sendable {
    static let shared = RunSlots(count: max(2, ProcessInfo.processInfo.activeProcessorCount))

    private struct State {
        var free: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    init(count: Int) { state = Mutex(State(free: count)) }

    func take() async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.free > 0 {
                    state.free -= 1
                    continuation.resume()
                } else {
                    state.waiting.append(continuation)
                }
            }
        }
    }

    func give() {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
            } else {
                state.waiting.removeFirst().resume()
            }
        }
    }
}
