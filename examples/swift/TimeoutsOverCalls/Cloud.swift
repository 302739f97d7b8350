import Synchronization

/// A stand-in for an old client of the cloud: each call answers on some thread, or never if it is slow.
final class Cloud: Sendable {
    private static let answers = ["glucose": "5.4 mmol/l", "steps": "8211", "weight": "71 kg"]

    private let slow: Set<String>
    private let waiting = Mutex<[@Sendable (String) -> Void]>([])

    init(slow: Set<String>) { self.slow = slow }

    /// Calls `completion` once. It cannot be called off.
    func fetch(_ name: String, completion: @escaping @Sendable (String) -> Void) {
        if slow.contains(name) {
            waiting.withLock { $0.append(completion) }
        } else {
            completion(Self.answers[name] ?? "nothing")
        }
    }
}
