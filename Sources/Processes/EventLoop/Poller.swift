internal import BasicContainers
internal import CLinux
internal import Glibc

/// Descriptors and timers of the event loop.
@EventLoopActor
package final class Poller {
    package static let shared = Poller()

    /// The callback for a ready descriptor.
    package typealias Handler = @EventLoopActor () -> Void

    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let read = Interest(rawValue: EPOLLIN.rawValue)
        package static let write = Interest(rawValue: EPOLLOUT.rawValue)
    }

    private struct Watch {
        enum Stage {
            /// Not registered with the kernel before that time.
            case deferred(until: EventLoopClock.Instant)
            case begun
            /// Begun, and ends with its first event.
            case once
        }

        let handler: Handler
        var stage: Stage
        /// The turn in which it was set.
        let turn: UInt64
    }

    // By descriptor: they are small numbers, and the kernel reuses the smallest.
    private var watches = UniqueArray<Watch?>()
    /// Descriptors whose watches have not begun, oldest first.
    private var deferred: [Int32] = []
    /// Most programs that a build starts end sooner than this.
    private static let deferral = Duration.milliseconds(2)
    package let timers = Timers()
    private let epoll = EventLoop.shared.epoll
    /// Watches for which the kernel has no room in its epoll set (ENOSPC, ENOMEM): polled separately.
    private var outsiders: [pollfd] = []
    private var turnTime: EventLoopClock.Instant?
    /// The number of times the loop has received events. A watch ignores the events of the turn in which it was set:
    /// they belong to a descriptor that had its number before and was closed in that turn.
    private var turn: UInt64 = 0
    /// Called each time before the loop waits for events.
    package var beforeWaiting: Handler?

    private init() {
        watch(EventLoop.shared.wakeup, for: .read) { EventLoop.shared.hasWoken() }
        if let descriptor = timers.descriptor { watch(descriptor, for: .read) { [timers] in timers.hasRung() } }
    }

    /// The time at which this turn of the loop first asked for it: one reading of the clock for everything that
    /// happens at once. Older than the clock by the time the turn has taken since.
    package var now: EventLoopClock.Instant {
        if let turnTime { return turnTime }
        let time = EventLoopClock().now
        turnTime = time
        return time
    }

    /// Makes `now` read the clock again, after something slow in this turn.
    package func forgetTime() { turnTime = nil }

    /// Calls `handler` while the descriptor is ready, level-triggered. Returns 0, or an error number if there is
    /// nothing to watch, as with regular files (EPERM).
    @discardableResult
    package func watch(_ descriptor: Int32, for interest: Interest, _ handler: @escaping Handler) -> Int32 {
        guard add(descriptor, interest.rawValue) else { return EPERM }
        set(handler, .begun, for: descriptor)
        return 0
    }

    /// Calls `handler` once, when the descriptor is readable. Cheaper than a watch for a descriptor that is closed
    /// then: `closeAfterEvent` has no watch to remove.
    func watchOnce(_ descriptor: Int32, _ handler: @escaping Handler) {
        _ = add(descriptor, EPOLLIN.rawValue | EPOLLONESHOT.rawValue)
        set(handler, .once, for: descriptor)
    }

    /// Watches for reading after a delay of two milliseconds: a descriptor that is closed by then, like the pipe of a
    /// short step, costs no system call and no wakeup.
    func watchSoon(_ descriptor: Int32, _ handler: @escaping Handler) {
        set(handler, .deferred(until: now.advanced(by: Self.deferral)), for: descriptor)
        deferred.append(descriptor)
    }

    private func set(_ handler: @escaping Handler, _ stage: Watch.Stage, for descriptor: Int32) {
        while watches.count <= Int(descriptor) { watches.append(nil) }
        watches[Int(descriptor)] = Watch(handler: handler, stage: stage, turn: turn)
    }

    private func beginDeferredWatches() {
        while let first = deferred.first, case .deferred(let due) = watches[Int(first)]?.stage, due <= now {
            deferred.removeFirst()
            _ = add(first, Interest.read.rawValue)
            watches[Int(first)]?.stage = .begun
        }
    }

    /// Returns false if the descriptor is of a kind that cannot be watched.
    private func add(_ descriptor: Int32, _ events: UInt32) -> Bool {
        if control(EPOLL_CTL_ADD, descriptor, events) { return true }
        switch errno {
        case EPERM: return false
        case EBADF, EEXIST, EINVAL: giveUp("watch a descriptor", errno)
        default:
            outsiders.append(pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0))
            return true
        }
    }

    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        return epoll_ctl(epoll, operation, descriptor, &event) == 0
    }

    /// Ends the watch of a descriptor; to be called before the descriptor is closed.
    package func unwatch(_ descriptor: Int32) {
        guard Int(descriptor) < watches.count, let watch = watches[Int(descriptor)].take() else { return }
        if case .deferred = watch.stage {
            deferred.removeAll { $0 == descriptor }
        } else if let index = outsiders.firstIndex(where: { $0.fd == descriptor }) {
            outsiders.remove(at: index)
        } else {
            _ = control(EPOLL_CTL_DEL, descriptor, 0)
        }
    }

    /// Ends the watch and closes the descriptor. The kernel's watch of a closed descriptor lives on while a new child
    /// has inherited it, and would report a number that means something else by then.
    func close(_ descriptor: Int32) {
        unwatch(descriptor)
        Glibc.close(descriptor)
    }

    /// Closes a descriptor whose `watchOnce` has had its event, so that no watch is left to remove.
    func closeAfterEvent(_ descriptor: Int32) {
        watches[Int(descriptor)] = nil
        Glibc.close(descriptor)
    }

    /// Calls `action` once, after `delay` on the monotonic clock.
    package func after(_ delay: Duration, _ action: @escaping Handler) {
        _ = timers.schedule(at: EventLoopClock().now.advanced(by: delay), action)
    }

    func run(on loop: EventLoop) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 64) { events in
            while loop.runJobs() {
                if let beforeWaiting {
                    beforeWaiting()
                    // A job enqueued on this thread does not wake the loop.
                    if loop.hasJobs { continue }
                }
                let (count, readyOutsiders) = wait(for: events)
                turn += 1
                turnTime = nil
                defer { if !deferred.isEmpty { beginDeferredWatches() } }
                var hasRung = false
                for event in events.prefix(count) {
                    if event.data.fd == timers.descriptor { hasRung = true } else { isReady(event.data.fd) }
                }
                for descriptor in readyOutsiders { isReady(descriptor) }
                // After everything that has already happened: a process that has ended in time is not too late because
                // this one is.
                if timers.areAsked { timers.fire() }
                if hasRung, let descriptor = timers.descriptor { isReady(descriptor) }
            }
        }
    }

    /// Waits for events. Returns the number of events in the set and the outsiders that are ready.
    private func wait(for events: UnsafeMutableBufferPointer<epoll_event>) -> (Int, [Int32]) {
        // No limit if nothing is deferred: timers have a descriptor.
        var limit: Int32 = deferred.isEmpty ? -1 : 2
        if timers.areAsked, let rest = timers.rest { limit = limit < 0 ? rest : min(limit, rest) }
        guard !outsiders.isEmpty else { return (waitForSet(events, limit), []) }
        var requests = outsiders + [pollfd(fd: epoll, events: Int16(POLLIN), revents: 0)]
        guard poll(&requests, nfds_t(requests.count), limit) > 0 else { return (0, []) }
        let ready = requests.dropLast().filter { $0.revents != 0 }.map(\.fd)
        // Their one event is over.
        outsiders.removeAll { request in
            guard ready.contains(request.fd), case .once = watches[Int(request.fd)]?.stage else { return false }
            return true
        }
        return (waitForSet(events, 0), ready)
    }

    private func waitForSet(_ events: UnsafeMutableBufferPointer<epoll_event>, _ limit: Int32) -> Int {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), limit)
        guard count >= 0 || errno == EINTR else { giveUp("wait for events", errno) }
        return max(0, Int(count))
    }

    private func isReady(_ descriptor: Int32) {
        // An earlier handler of this turn may have ended the watch, or set another.
        guard Int(descriptor) < watches.count, let watch = watches[Int(descriptor)], watch.turn != turn else { return }
        watch.handler()
    }
}
