internal import CLinux
internal import Glibc

/// Descriptors and timers of the event loop.
@EventLoopActor
package final class Poller {
    package static let shared = Poller()

    /// What is called when a descriptor is ready.
    package typealias Handler = @EventLoopActor () -> Void

    package struct Interest: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        package static let read = Interest(rawValue: EPOLLIN.rawValue)
        package static let write = Interest(rawValue: EPOLLOUT.rawValue)
    }

    private struct Watch {
        enum Stage {
            /// Not known to the kernel before that time.
            case deferred(until: EventLoopClock.Instant)
            case begun
            /// Begun, and over with its first event.
            case once
        }

        let handler: Handler
        var stage: Stage
    }

    // By descriptor: they are small numbers, and the kernel reuses the smallest.
    private var watches: [Watch?] = []
    /// Watches that have not begun, oldest first.
    private var deferred: [Int32] = []
    /// Most programs that a build starts are over sooner.
    private static let deferral = Duration.milliseconds(2)
    package let timers = Timers()
    private let epoll = EventLoop.shared.epoll
    private var turnTime: EventLoopClock.Instant?

    private init() {
        watch(timers.descriptor, for: .read) { [timers] in timers.fire() }
    }

    /// When this turn of the loop began to ask for the time: one reading of the clock for everything that happens at
    /// once. Older than the clock by what the turn has taken so far.
    package var now: EventLoopClock.Instant {
        if let turnTime { return turnTime }
        let time = EventLoopClock().now
        turnTime = time
        return time
    }

    /// Lets `now` read the clock again, after something in this turn that took long.
    package func forgetTime() { turnTime = nil }

    /// Calls `handler` while the descriptor is ready, level-triggered. Returns the error number where the kernel
    /// refuses regular files (EPERM); any other refusal ends flowrun.
    @discardableResult
    package func watch(_ descriptor: Int32, for interest: Interest, _ handler: @escaping Handler) -> Int32 {
        guard control(EPOLL_CTL_ADD, descriptor, interest.rawValue) else { return EPERM }
        set(Watch(handler: handler, stage: .begun), for: descriptor)
        return 0
    }

    /// Calls `handler` once, when the descriptor is readable. Cheaper than a watch for what is closed then: `close` has
    /// no watch to end.
    func watchOnce(_ descriptor: Int32, _ handler: @escaping Handler) {
        _ = control(EPOLL_CTL_ADD, descriptor, EPOLLIN.rawValue | EPOLLONESHOT.rawValue)
        set(Watch(handler: handler, stage: .once), for: descriptor)
    }

    /// Begins a `watchOnce` again whose event came for nothing.
    func watchOnceMore(_ descriptor: Int32) {
        _ = control(EPOLL_CTL_MOD, descriptor, EPOLLIN.rawValue | EPOLLONESHOT.rawValue)
    }

    /// Watches for reading, but lets two milliseconds pass first: a descriptor that is closed by then, like the pipe of
    /// a short step, costs no system call and wakes nobody up.
    func watchSoon(_ descriptor: Int32, _ handler: @escaping Handler) {
        set(Watch(handler: handler, stage: .deferred(until: now.advanced(by: Self.deferral))), for: descriptor)
        deferred.append(descriptor)
    }

    private func set(_ watch: Watch, for descriptor: Int32) {
        while watches.count <= Int(descriptor) { watches.append(nil) }
        watches[Int(descriptor)] = watch
    }

    private func beginDeferredWatches() {
        while let first = deferred.first, case .deferred(let due) = watches[Int(first)]?.stage, due <= now {
            deferred.removeFirst()
            _ = control(EPOLL_CTL_ADD, first, Interest.read.rawValue)
            watches[Int(first)]?.stage = .begun
        }
    }

    /// Returns false where the descriptor is of a kind that cannot be watched.
    private func control(_ operation: Int32, _ descriptor: Int32, _ events: UInt32) -> Bool {
        var event = epoll_event(events: events, data: epoll_data_t(fd: descriptor))
        if epoll_ctl(epoll, operation, descriptor, &event) == 0 { return true }
        guard errno == EPERM else { giveUp("watch a descriptor", errno) }
        return false
    }

    /// Ends the watch before the descriptor is closed.
    package func unwatch(_ descriptor: Int32) {
        guard Int(descriptor) < watches.count, let watch = watches[Int(descriptor)].take() else { return }
        if case .deferred = watch.stage {
            deferred.removeAll { $0 == descriptor }
        } else {
            _ = control(EPOLL_CTL_DEL, descriptor, 0)
        }
    }

    /// Ends the watch and closes the descriptor. The watch of a closed descriptor goes on in the kernel while a new
    /// child has a copy of it, and would report a number that means something else by then.
    func close(_ descriptor: Int32) {
        unwatch(descriptor)
        Glibc.close(descriptor)
    }

    /// Closes a descriptor whose `watchOnce` has had its event, which leaves nothing to end.
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
                // Without a limit where nothing is deferred: timers have a descriptor.
                let limit: Int32 = deferred.isEmpty ? -1 : 2
                let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), limit)
                turnTime = nil
                guard count >= 0 || errno == EINTR else { giveUp("wait for events", errno) }
                defer { if !deferred.isEmpty { beginDeferredWatches() } }
                guard count > 0 else { continue }
                for event in events.prefix(Int(count)) {
                    let descriptor = event.data.fd
                    if loop.drainWakeup(descriptor) { continue }
                    // An earlier handler of this turn may have ended the watch.
                    guard Int(descriptor) < watches.count, let watch = watches[Int(descriptor)] else { continue }
                    watch.handler()
                }
            }
        }
    }
}
