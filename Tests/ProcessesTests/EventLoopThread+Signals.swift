import FlowrunTestSupport

@testable import Processes

extension EventLoopThread {
    /// What the program does first: without it, whatever this process ignores its children ignore too.
    @EventLoopActor static func takeSignals() { _ = hasSignals }

    @EventLoopActor private static let hasSignals: Bool = {
        Signals.take { _ in }
        return true
    }()
}
