internal import Synchronization

/// Messages from anywhere to one receiver, in the order in which they were posted. Posting never waits.
final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var receiver: UnsafeContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func post(_ message: Message) {
        let receiver = state.withLock { state in
            state.messages.append(message)
            return state.receiver.take()
        }
        receiver?.resume()
    }

    /// Waits until there is a message and takes all there are. One receiver at a time. Does not react to cancellation
    /// of the task: whoever posts decides when the receiver is done.
    func receive() async -> [Message] {
        await withUnsafeContinuation { continuation in
            let isReady = state.withLock { state in
                if state.messages.isEmpty { state.receiver = continuation }
                return !state.messages.isEmpty
            }
            if isReady { continuation.resume() }
        }
        return takeAll()
    }

    /// What there is now, without waiting.
    func takeAll() -> [Message] {
        state.withLock { state in
            defer { state.messages.removeAll() }
            return state.messages
        }
    }
}
