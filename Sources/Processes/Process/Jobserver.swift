package import Basics
internal import CLinux
internal import Glibc

/// Tokens, each of which allows one more process than the one that a run may always have.
@EventLoopActor
package protocol TokenPool: AnyObject {
    /// Takes a token, without waiting. Returns false if there is none now.
    func take() -> Bool
    /// Gives the last token back. Never waits; what cannot be given back at once is later.
    func giveBack()
    /// Calls `handler` each time there may be a token, until it is replaced; nil for no call.
    func watch(_ handler: (@EventLoopActor () -> Void)?)
    /// Lets the processes of steps take part, through `fifo`, which has no token yet.
    func share(through fifo: JobserverFIFO)
    /// Notes how many steps take part now. Once there is no such step, what its processes have not given back, because
    /// they were killed, is back all the same; what a process that was left running gives back later counts no more.
    func serve(_ participants: Int)
    /// Notes that the caller wants that many processes at once from here on; those of another's jobserver are as many
    /// as that allows.
    func setJobs(_ jobs: Int)
}

/// A jobserver of flowrun's own as processes get it: a FIFO, as descriptor 9 or by its path.
package final class JobserverFIFO: Sendable {
    package let path: String
    /// Does not wait.
    fileprivate let descriptor: Int32
    /// For the processes, which wait. Above the number that it gets there.
    let inherited: Int32

    /// Makes a FIFO at a path where nothing is. Throws if that is impossible.
    package init(at path: String) throws(SystemError) {
        guard mkfifo(path, 0o600) == 0 else { throw .last }
        let both = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard both >= 0 else { throw .last }
        let waiting = open(path, O_RDWR | O_CLOEXEC)
        let inherited = waiting < 0 ? -1 : fcntl(waiting, F_DUPFD_CLOEXEC, 10)
        let failure = SystemError.last
        if waiting >= 0 { Glibc.close(waiting) }
        guard inherited >= 0 else {
            Glibc.close(both)
            throw failure
        }
        (self.path, descriptor, self.inherited) = (path, both, inherited)
    }

    deinit {
        Glibc.close(descriptor)
        Glibc.close(inherited)
    }

    /// The number of tokens in it.
    fileprivate var count: Int {
        var count: Int32 = 0
        return ioctl(descriptor, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    fileprivate func put(_ count: Int) {
        let tokens = [UInt8](repeating: UInt8(ascii: "+"), count: max(0, count))
        _ = write(descriptor, tokens, tokens.count)
    }

    fileprivate func take() -> Bool {
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1
    }

    fileprivate func drain() { while take() {} }

    /// Returns the value of MAKEFLAGS for a process that takes part.
    package func makeFlags(addedTo flags: String, jobs: Int, isByPath: Bool) -> String {
        MakeFlags(flags).withJobs(jobs, auth: isByPath ? "fifo:\(path)" : "9,9")
    }
}

/// A watch of a descriptor from which tokens are read.
@EventLoopActor
private final class TokenWatch {
    private let descriptor: Int32
    private var handler: (@EventLoopActor () -> Void)?

    nonisolated init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Replaces what is called while there may be a token; nil ends the watch.
    func set(_ handler: (@EventLoopActor () -> Void)?) {
        let wasWatched = self.handler != nil
        self.handler = handler
        if handler == nil, wasWatched { Poller.shared.unwatch(descriptor) }
        guard handler != nil, !wasWatched else { return }
        Poller.shared.watch(descriptor, for: .read) { [weak self] in self?.handler?() }
    }
}

/// The jobserver of the make(1) in whose recipe flowrun runs. The guard, or the sentinel, gives back what a killed run
/// still has, once nothing of the run is left.
///
/// Steps take part through a FIFO of flowrun's own, so that make gets back all tokens, whatever has become of the
/// processes that had them: the FIFO gets one from make when it is empty, and make those that lie idle in there.
@EventLoopActor
package final class Jobserver: TokenPool {
    package enum Presence: Sendable {
        case none
        case open
        /// MAKEFLAGS names one that flowrun has not got, as in a recipe line without `+`.
        case closed
    }

    package nonisolated static var presence: Presence {
        switch clinux_jobserver() {
        case CLINUX_JOBSERVER: .open
        case CLINUX_CLOSED_JOBSERVER: .closed
        default: .none
        }
    }

    /// The most tokens that a run holds at once.
    package nonisolated static let mostTokens = Int(CLINUX_MOST_TOKENS)

    /// Tokens that could not be written back yet, because the pipe was full.
    private var owed = 0
    private var isRetrying = false
    private lazy var watch = TokenWatch(clinux_jobserver_reading())
    private var fifo: JobserverFIFO?
    private var participants = 0
    /// The tokens that are in the FIFO, or that processes have taken from there.
    private var lent = 0
    /// The least that was in the FIFO in the last looks.
    private var idle = 0
    private var looks = 0
    private var isLooking = false

    private static let retryInterval = Duration.milliseconds(20)
    private static let lookInterval = Duration.milliseconds(5)
    private static let looksUntilIdle = 10

    package nonisolated init() {}

    package func take() -> Bool {
        // One that is owed is still here.
        if owed > 0 {
            owed -= 1
            return true
        }
        return clinux_take_token() == 1
    }

    package func giveBack() {
        owed += 1
        payBack()
    }

    private func payBack() {
        while owed > 0, clinux_give_token() == 1 { owed -= 1 }
        guard owed > 0, !isRetrying else { return }
        isRetrying = true
        Poller.shared.after(Self.retryInterval) { [weak self] in
            self?.isRetrying = false
            self?.payBack()
        }
    }

    package func watch(_ handler: (@EventLoopActor () -> Void)?) { watch.set(handler) }

    package func share(through fifo: JobserverFIFO) { self.fifo = fifo }
    package func setJobs(_ jobs: Int) {}

    package func serve(_ participants: Int) {
        if participants == 0 || self.participants == 0 { fifo?.drain() }
        self.participants = participants
        if participants == 0 {
            while lent > 0 { takeBack() }
        } else if !isLooking {
            look()
        }
    }

    private func look() {
        isLooking = participants > 0
        guard isLooking, let fifo else { return }
        let count = fifo.count
        if count == 0, take() {
            lent += 1
            fifo.put(1)
        }
        (idle, looks) = (looks == 0 ? count : min(idle, count), looks + 1)
        if looks >= Self.looksUntilIdle {
            // One stays for the next process that asks.
            for _ in 0..<max(0, idle - 1) where lent > 0 && fifo.take() { takeBack() }
            looks = 0
        }
        Poller.shared.after(Self.lookInterval) { [weak self] in self?.look() }
    }

    private func takeBack() {
        lent -= 1
        giveBack()
    }
}

/// A jobserver of flowrun's own, for a run that is in no make's.
@EventLoopActor
package final class OwnJobserver: TokenPool {
    private let fifo: JobserverFIFO
    /// The number of tokens in all.
    private var count: Int
    /// The tokens beyond that, which processes still have.
    private var excess = 0
    /// The number of those that the run itself holds.
    private var held = 0
    /// True while steps take part: only then the tokens that the run does not hold are in the FIFO.
    private var isShared = false
    private let watch: TokenWatch

    /// Tokens for `jobs` processes at once, which steps get through `fifo`.
    package init(_ fifo: JobserverFIFO, jobs: Int) {
        self.fifo = fifo
        watch = TokenWatch(fifo.descriptor)
        count = jobs - 1
    }

    package func take() -> Bool {
        settle()
        guard held < count, !isShared || fifo.take() else { return false }
        held += 1
        return true
    }

    package func giveBack() {
        held -= 1
        if isShared { fifo.put(1) }
        settle()
    }

    package func setJobs(_ jobs: Int) {
        let change = jobs - 1 - count
        count = jobs - 1
        guard isShared else { return }
        excess -= change
        fifo.put(-excess)
        excess = max(0, excess)
        settle()
    }

    /// Takes what processes give back beyond the number of tokens, now and as they do.
    private func settle() {
        while excess > 0, fifo.take() { excess -= 1 }
        guard excess > 0, !isSettling else { return }
        isSettling = true
        Poller.shared.after(Self.interval) { [weak self] in
            self?.isSettling = false
            self?.settle()
        }
    }

    private var isSettling = false
    private static let interval = Duration.milliseconds(1)

    package func share(through fifo: JobserverFIFO) {}

    package func serve(_ participants: Int) {
        guard isShared != (participants > 0) else { return }
        isShared = participants > 0
        fifo.drain()
        excess = 0
        guard isShared else { return }
        fifo.put(count - held)
        excess = max(0, held - count)
    }

    package func watch(_ handler: (@EventLoopActor () -> Void)?) { watch.set(handler) }
}
