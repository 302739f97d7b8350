internal import Processes
internal import Scheduling

/// The slots of a run that has one of its own, and one more for each token that it holds.
///
/// A token is taken only when a step that is ready lacks nothing but a slot, and given back as soon as its slot is
/// free: so a run that waits for a token holds none that it does not use, and a lock is only ever taken by a step that
/// starts.
@EventLoopActor
final class TokenSlots {
    private let pool: any TokenPool
    private let loop: RunLoop
    /// The most slots.
    private let limit: Int
    private var tokens = 0
    private var isBalancing = false
    /// The number of commands that take part in the jobs.
    private var participants = 0 {
        didSet { pool.serve(participants, holding: tokens) }
    }

    init(_ pool: any TokenPool, for loop: RunLoop, limit: Int) {
        self.pool = pool
        self.loop = loop
        self.limit = limit
    }

    func begins(_ command: ProcessCommand) { if command.jobserver != nil { participants += 1 } }

    /// Called before anything that waits for the end of the command is started.
    func hasEnded(_ command: ProcessCommand?) { if command?.jobserver != nil { participants -= 1 } }

    /// Takes and gives back tokens until the slots fit what is ready.
    func balance() {
        guard !isBalancing else { return }
        isBalancing = true
        defer { isBalancing = false }
        var isWaiting = false
        while !isWaiting {
            if tokens > 0, loop.hasFreeSlot {
                tokens -= 1
                loop.send(.width(1 + tokens))
                pool.giveBack()
            } else if loop.lacksSlot, 1 + tokens < limit {
                isWaiting = !pool.take()
                guard !isWaiting else { break }
                tokens += 1
                loop.send(.width(1 + tokens))
            } else {
                break
            }
        }
        if isWaiting { pool.watch { [weak self] in self?.balance() } } else { pool.watch(nil) }
    }

    /// Gives everything back, at the end of the run.
    func end() {
        pool.watch(nil)
        while tokens > 0 {
            tokens -= 1
            pool.giveBack()
        }
    }
}
