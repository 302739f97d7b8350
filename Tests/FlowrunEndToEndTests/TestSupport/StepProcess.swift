import Foundation
import Testing

/// A process of a step, as /proc shows it.
struct StepProcess {
    let pid: Int

    init(_ pid: Int) { self.pid = pid }

    /// The state's letter, as in ps; nil where the process is gone.
    var state: String? {
        guard let stat = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        let text = String(decoding: stat, as: UTF8.self)
        return text.split(separator: ")").last?.split(separator: " ").first.map(String.init)
    }

    /// Waits for a state: a signal arrives soon, not at once, and nobody tells of it.
    func waitForState(_ wanted: String) async throws {
        let deadline = ContinuousClock.now + .seconds(30)
        while state != wanted {
            try #require(ContinuousClock.now < deadline, "process \(pid) is in state \(state ?? "none")")
            await Task.yield()
        }
    }
}
