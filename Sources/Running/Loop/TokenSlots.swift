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
    private var limit: Int
    private var tokens = 0
    private var isBalancing = false
    /// The number of commands that take part in the jobs.
    private var participants = 0 {
        didSet { pool.serve(participants) }
    }

    init(_ pool: any TokenPool, for loop: RunLoop, limit: Int) {
        self.pool = pool
        self.loop = loop
        self.limit = limit
    }

    func begins(_ command: ProcessCommand) { if command.jobserver != nil { participants += 1 } }

    /// Called before anything that waits for the end of the command is started.
    func hasEnded(_ command: ProcessCommand?) { if command?.jobserver != nil { participants -= 1 } }

    /// Lets at most `limit` steps run at once from here on; if more are running, they go on.
    func setLimit(_ limit: Int) {
        self.limit = limit
        pool.setJobs(limit)
        tellWidth()
        balance()
    }

    private func tellWidth() { loop.send(.width(min(1 + tokens, limit))) }

    /// Takes and gives back tokens until the slots fit what is ready.
    func balance() {
        guard !isBalancing else { return }
        isBalancing = true
        defer { isBalancing = false }
        var isWaiting = false
        while true {
            if tokens > 0, loop.running < 1 + tokens {
                tokens -= 1
                tellWidth()
                pool.giveBack()
            } else if loop.lacksSlot, 1 + tokens < limit {
                isWaiting = !pool.take()
                guard !isWaiting else { break }
                tokens += 1
                tellWidth()
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
