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

    // By descriptor: they are small numbers, and the kernel reuses the smallest.
    private var handlers: [Handler?] = []
    /// Watches that have not begun, oldest first.
    private var deferred: [(descriptor: Int32, due: EventLoopClock.Instant)] = []
    /// Most programs that a build starts are over sooner.
    private static let deferral = Duration.milliseconds(2)
    let timers = Timers()
    private let epoll = EventLoop.shared.epoll

    private init() {
        watch(timers.descriptor, for: .read) { [timers] in timers.fire() }
    }

    /// Calls `handler` while the descriptor is ready, level-triggered. Returns the error number where the kernel
    /// refuses, as it does for regular files (EPERM).
    @discardableResult
    package func watch(_ descriptor: Int32, for interest: Interest, _ handler: @escaping Handler) -> Int32 {
        var event = epoll_event(events: interest.rawValue, data: epoll_data_t(fd: descriptor))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else { return errno }
        setHandler(handler, for: descriptor)
        return 0
    }

    /// Watches for reading, but lets two milliseconds pass first: a descriptor that is closed by then, like the pipes of
    /// a short step, costs no system call and wakes nobody up.
    func watchSoon(_ descriptor: Int32, _ handler: @escaping Handler) {
        setHandler(handler, for: descriptor)
        deferred.append((descriptor, EventLoopClock().now.advanced(by: Self.deferral)))
    }

    private func setHandler(_ handler: @escaping Handler, for descriptor: Int32) {
        while handlers.count <= Int(descriptor) { handlers.append(nil) }
        handlers[Int(descriptor)] = handler
    }

    private func beginDeferredWatches() {
        let now = EventLoopClock().now
        while let first = deferred.first, first.due <= now {
            deferred.removeFirst()
            var event = epoll_event(events: Interest.read.rawValue, data: epoll_data_t(fd: first.descriptor))
            epoll_ctl(epoll, EPOLL_CTL_ADD, first.descriptor, &event)
        }
    }

    /// Ends the watch before the descriptor is closed.
    package func unwatch(_ descriptor: Int32) {
        guard Int(descriptor) < handlers.count, handlers[Int(descriptor)] != nil else { return }
        handlers[Int(descriptor)] = nil
        epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
    }

    /// Ends the watch and closes the descriptor, which takes it out of the epoll set by itself. Only for descriptors
    /// that nobody else has a copy of.
    func close(_ descriptor: Int32) {
        if Int(descriptor) < handlers.count { handlers[Int(descriptor)] = nil }
        if let index = deferred.firstIndex(where: { $0.descriptor == descriptor }) { deferred.remove(at: index) }
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
                precondition(count >= 0 || errno == EINTR, "epoll_wait failed: errno \(errno)")
                defer { if !deferred.isEmpty { beginDeferredWatches() } }
                guard count > 0 else { continue }
                for event in events.prefix(Int(count)) {
                    let descriptor = event.data.fd
                    if loop.drainWakeup(descriptor) { continue }
                    // An earlier handler of this round may have ended the watch.
                    guard Int(descriptor) < handlers.count, let handler = handlers[Int(descriptor)] else { continue }
                    handler()
                }
            }
        }
    }
}
