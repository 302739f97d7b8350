import AsyncOperations
import Glibc
import Synchronization

/// Threads that begin something at the same moment, again and again.
final class StressCrew: Sendable {
    private struct Work: Sendable {
        var parts: [@Sendable () -> Void] = []
        var finish: (@Sendable () -> Void)?
    }

    private let turns: [Turn]
    private let work = Mutex(Work())
    private let missing = Atomic(0)
    private let running = Atomic(0)

    init(_ count: Int) {
        turns = (0..<count).map { _ in Turn() }
        for (number, turn) in turns.enumerated() {
            Processor.startThread { [weak self] in
                turn.wait()
                while let crew = self {
                    crew.takePart(number)
                    turn.wait()
                }
            }
        }
    }

    deinit { for turn in turns { turn.give() } }

    /// Runs `parts`, at most as many as there are threads, each on a thread of its own, and returns after the last.
    func run(_ parts: [@Sendable () -> Void]) async {
        await withCheckedContinuation { continuation in
            missing.store(parts.count, ordering: .relaxed)
            running.store(parts.count, ordering: .relaxed)
            work.withLock { $0 = Work(parts: parts) { continuation.resume() } }
            if parts.isEmpty { continuation.resume() }
            for turn in turns.prefix(parts.count) { turn.give() }
        }
    }

    private func takePart(_ number: Int) {
        let (part, finish) = work.withLock { ($0.parts[number], $0.finish) }
        missing.subtract(1, ordering: .acquiringAndReleasing)
        while missing.load(ordering: .acquiring) > 0 { sched_yield() }
        part()
        if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            work.withLock { $0 = Work() }
            finish?()
        }
    }
}

/// Makes threads late at random places, while anybody asks for it.
enum StressNoise {
    private static let level = Atomic(0)
    private static let counter = Atomic<UInt64>(0)

    static func begin() { level.add(1, ordering: .relaxed) }
    static func end() { level.subtract(1, ordering: .relaxed) }

    static func shake() {
        guard level.load(ordering: .relaxed) > 0 else { return }
        var number = counter.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
        number = (number ^ number >> 29) &* 0xBF58_476D_1CE4_E5B9
        switch number >> 56 {
        case 0..<12: sched_yield()
        case 12..<40:
            var rest = number >> 48 & 0xFF
            while rest > 0, level.load(ordering: .acquiring) >= 0 { rest -= 1 }
        default: break
        }
    }
}
