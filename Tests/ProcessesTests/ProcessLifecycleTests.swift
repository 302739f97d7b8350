import Glibc
import Testing

@testable import Processes

/// All in virtual time: milliseconds since the start.
@Suite struct ProcessLifecycleTests {
    var command = LifecycleDriver()

    // MARK: The normal end

    @Test mutating func `a command whose pipes are closed and of which nobody is left ends with its first process`() {
        command.expect(command.lifecycle.pipesClosed(), [])
        command.reap(at: 10, [.look])
        command.look(isAlive: false, at: 10, [.finish(isTruncated: false, isLost: false)])
        #expect(command.lifecycle.isOver)
    }

    @Test mutating func `a pipe that is still open is a sign of somebody`() {
        #expect(command.lifecycle.expectsSurvivors)
        _ = command.lifecycle.pipesClosed()
        #expect(!command.lifecycle.expectsSurvivors)
    }

    @Test mutating func `what goes on after the first process is told of once, and ends when it ends`() {
        command.reap(at: 10, [.look])
        command.look(isAlive: true, at: 10, [.tellLingering, .wake(at: .milliseconds(11))])
        command.time(at: 11, [.look])
        command.look(isAlive: true, at: 11, [.wake(at: .milliseconds(13))])
        command.expect(command.lifecycle.pipesClosed(), [.look])
        command.look(isAlive: true, at: 12, [.wake(at: .milliseconds(16))])
        command.time(at: 16, [.look])
        command.look(isAlive: false, at: 16, [.finish(isTruncated: false, isLost: false)])
    }

    @Test mutating func `looks become rarer, down to twenty a second`() {
        command.reap(at: 0, [.look])
        var intervals: [Int] = []
        var now = 0
        for _ in 0..<8 {
            guard let next = command.wake(afterLookAt: now) else { break }
            intervals.append(next - now)
            now = next
        }
        #expect(intervals == [1, 2, 4, 8, 16, 32, 50, 50])
    }

    // MARK: The drain window

    @Test mutating func `survivors are killed when the drain window is over`() {
        _ = command.lifecycle.pipesClosed()
        command.reap(at: 0, [.look])
        command.look(isAlive: true, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        #expect(!command.lifecycle.isStopping)
        command.look(isAlive: true, at: 1999, [.wake(at: .milliseconds(2000))])
        command.look(isAlive: true, at: 2000, [.send(SIGKILL), .look])
        #expect(command.lifecycle.isStopping)
        command.look(isAlive: true, at: 2000, [.sweep, .wake(at: .milliseconds(2001))])
        command.look(isAlive: false, at: 2001, [.finish(isTruncated: false, isLost: false)])
    }

    @Test mutating func `a pipe held by an outsider is waited for until the drain window is over`() {
        command.reap(at: 0, [.look])
        command.look(isAlive: false, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        command.look(isAlive: false, at: 1999, [.wake(at: .milliseconds(2000))])
        command.look(isAlive: false, at: 2000, [.finish(isTruncated: true, isLost: false)])
    }

    @Test mutating func `a pipe held by an outsider holds up a stop for the last wait only`() {
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.reap(at: 100, [.look])
        command.look(isAlive: false, at: 100, [.wake(at: .milliseconds(101))])
        command.look(isAlive: false, at: 299, [.wake(at: .milliseconds(300))])
        command.look(isAlive: false, at: 300, [.finish(isTruncated: true, isLost: false)])
    }

    @Test mutating func `the outsider may let go during the last wait`() {
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.reap(at: 100, [.look])
        command.look(isAlive: false, at: 100, [.wake(at: .milliseconds(101))])
        command.expect(command.lifecycle.pipesClosed(), [.look])
        command.look(isAlive: false, at: 150, [.finish(isTruncated: false, isLost: false)])
    }

    // MARK: Grace and kill

    @Test mutating func `an end that is asked for has a grace, then KILL`() {
        command.terminate(grace: 5000, at: 100, deadline: 5100)
        #expect(command.lifecycle.isStopping)
        command.time(at: 5099, [.wake(at: .milliseconds(5100))])
        command.time(at: 5100, [.send(SIGKILL), .wake(at: .milliseconds(15_100))])
        command.reap(at: 5101, [.look])
        command.look(isAlive: false, at: 5101, [.wake(at: .milliseconds(5102))])
        _ = command.lifecycle.pipesClosed()
        command.look(isAlive: false, at: 5102, [.finish(isTruncated: false, isLost: false)])
    }

    @Test mutating func `an exit while stopping leaves the others what is left of the grace`() {
        _ = command.lifecycle.pipesClosed()
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.reap(at: 1000, [.look])
        // Nothing about lingering: it did not end by itself.
        command.look(isAlive: true, at: 1000, [.wake(at: .milliseconds(1001))])
        command.look(isAlive: true, at: 4999, [.wake(at: .milliseconds(5000))])
        command.look(isAlive: true, at: 5000, [.send(SIGKILL), .look])
    }

    @Test(arguments: [(SIGKILL, 5000), (SIGTERM, 0), (SIGTERM, -1)])
    mutating func `KILL has no grace, and no grace is KILL`(signal: Int32, grace: Int) {
        command.expect(
            command.lifecycle.terminate(with: signal, grace: .milliseconds(grace), at: .milliseconds(7)),
            [.send(SIGKILL), .wake(at: .milliseconds(10_007))])
    }

    @Test mutating func `the first end that is asked for counts, and KILL still comes through`() {
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.expect(command.lifecycle.terminate(with: SIGINT, grace: .seconds(1), at: .milliseconds(10)), [])
        command.kill(at: 20, [.send(SIGKILL), .wake(at: .milliseconds(10_020))])
        command.kill(at: 30, [])
        command.expect(command.lifecycle.terminate(with: SIGINT, grace: .seconds(1), at: .milliseconds(40)), [])
    }

    @Test mutating func `an end asked for while draining is looked after at once`() {
        command.reap(at: 0, [.look])
        command.look(isAlive: true, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        command.expect(
            command.lifecycle.terminate(with: SIGTERM, grace: .seconds(5), at: .milliseconds(1000)),
            [.send(SIGTERM), .send(SIGCONT), .wake(at: .milliseconds(1001))])
        // The grace has taken the place of the drain window.
        command.look(isAlive: true, at: 2000, [.wake(at: .milliseconds(2002))])
    }

    @Test mutating func `a kill while draining looks at once and goes on killing those it finds`() {
        command.reap(at: 0, [.look])
        command.look(isAlive: true, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        command.kill(at: 50, [.send(SIGKILL), .look])
        command.look(isAlive: true, at: 50, [.sweep, .wake(at: .milliseconds(51))])
        command.look(isAlive: true, at: 51, [.sweep, .wake(at: .milliseconds(53))])
    }

    @Test mutating func `members that even KILL does not end are lost when the kill window is over`() {
        command.reap(at: 0, [.look])
        command.kill(at: 0, [.send(SIGKILL), .look])
        command.look(isAlive: true, at: 9999, [.sweep, .wake(at: .milliseconds(10_000))])
        command.look(isAlive: true, at: 10_000, [.finish(isTruncated: true, isLost: true)])
    }

    @Test mutating func `a first process that even KILL does not end is lost as well`() {
        command.kill(at: 0, [.send(SIGKILL), .wake(at: .milliseconds(10_000))])
        command.time(at: 10_000, [.finish(isTruncated: true, isLost: true)])
        command.reap(at: 10_001, [])
    }

    // MARK: Freezing

    @Test mutating func `a grace stands still while the command is frozen`() {
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.freeze(at: 1000, [.send(SIGSTOP)])
        command.time(at: 5000, [])
        command.thaw(at: 101_000, [.send(SIGCONT), .wake(at: .milliseconds(105_000))])
        command.time(at: 104_999, [.wake(at: .milliseconds(105_000))])
        command.time(at: 105_000, [.send(SIGKILL), .wake(at: .milliseconds(115_000))])
    }

    @Test mutating func `the drain window stands still while the command is frozen`() {
        command.reap(at: 0, [.look])
        command.look(isAlive: true, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        command.freeze(at: 500, [.send(SIGSTOP)])
        // Somebody else may end what is frozen.
        command.look(isAlive: true, at: 5000, [.wake(at: .milliseconds(5002))])
        command.thaw(at: 10_500, [.send(SIGCONT), .wake(at: .milliseconds(10_504))])
        command.look(isAlive: true, at: 11_999, [.wake(at: .milliseconds(12_000))])
        command.look(isAlive: true, at: 12_000, [.send(SIGKILL), .look])
    }

    @Test mutating func `the drain window stands still while nobody reads what is written`() {
        command.reap(at: 0, [.look])
        command.look(isAlive: true, at: 0, [.tellLingering, .wake(at: .milliseconds(1))])
        command.lifecycle.holdsBack(at: .milliseconds(500))
        command.look(isAlive: true, at: 9000, [.wake(at: .milliseconds(9002))])
        command.readsOn(at: 9500, [.wake(at: .milliseconds(9504))])
        command.look(isAlive: true, at: 10_999, [.wake(at: .milliseconds(11_000))])
        command.look(isAlive: true, at: 11_000, [.send(SIGKILL), .look])
    }

    @Test mutating func `what is left unread before the first process ends holds up the drain window as well`() {
        command.lifecycle.holdsBack(at: .milliseconds(0))
        command.reap(at: 10, [.look])
        command.look(isAlive: false, at: 10, [.tellLingering, .wake(at: .milliseconds(11))])
        command.look(isAlive: false, at: 9000, [.wake(at: .milliseconds(9002))])
        command.freeze(at: 9000, [.send(SIGSTOP)])
        command.readsOn(at: 9100, [.wake(at: .milliseconds(9104))])
        command.look(isAlive: false, at: 20_000, [.wake(at: .milliseconds(20_008))])
        command.thaw(at: 20_000, [.send(SIGCONT), .wake(at: .milliseconds(20_016))])
        command.look(isAlive: false, at: 22_000, [.finish(isTruncated: true, isLost: false)])
    }

    @Test mutating func `a stop does not wait for anybody to read`() {
        command.lifecycle.holdsBack(at: .milliseconds(0))
        command.reap(at: 10, [.look])
        command.look(isAlive: true, at: 10, [.tellLingering, .wake(at: .milliseconds(11))])
        command.terminate(grace: 5000, at: 100, deadline: 101)
        command.look(isAlive: true, at: 5100, [.send(SIGKILL), .look])
    }

    @Test mutating func `a drain window that begins while frozen begins with the thaw`() {
        command.freeze(at: 0, [.send(SIGSTOP)])
        command.reap(at: 1000, [.look])
        command.look(isAlive: true, at: 1000, [.tellLingering, .wake(at: .milliseconds(1001))])
        command.thaw(at: 5000, [.send(SIGCONT), .wake(at: .milliseconds(5002))])
        command.look(isAlive: true, at: 6999, [.wake(at: .milliseconds(7000))])
        command.look(isAlive: true, at: 7000, [.send(SIGKILL), .look])
    }

    @Test mutating func `a running command has no deadline that a thaw could bring back`() {
        command.freeze(at: 0, [.send(SIGSTOP)])
        command.freeze(at: 1, [])
        command.thaw(at: 2, [.send(SIGCONT)])
        command.thaw(at: 3, [])
    }

    @Test mutating func `a frozen command that is ended goes on, with its whole grace`() {
        command.freeze(at: 0, [.send(SIGSTOP)])
        command.terminate(grace: 5000, at: 1000, deadline: 6000)
        command.thaw(at: 2000, [])
        command.time(at: 6000, [.send(SIGKILL), .wake(at: .milliseconds(16_000))])
    }

    @Test mutating func `a kill reaches a frozen command, and what is killed is not frozen`() {
        command.terminate(grace: 5000, at: 0, deadline: 5000)
        command.freeze(at: 1000, [.send(SIGSTOP)])
        command.kill(at: 2000, [.send(SIGKILL), .wake(at: .milliseconds(12_000))])
        command.freeze(at: 3000, [])
        command.thaw(at: 4000, [])
        command.time(at: 12_000, [.finish(isTruncated: true, isLost: true)])
    }

    @Test mutating func `what is over wants nothing any more`() {
        _ = command.lifecycle.pipesClosed()
        command.reap(at: 0, [.look])
        command.look(isAlive: false, at: 0, [.finish(isTruncated: false, isLost: false)])
        command.reap(at: 1, [])
        command.look(isAlive: true, at: 1, [])
        command.time(at: 1, [])
        command.kill(at: 1, [])
        command.freeze(at: 1, [])
        command.thaw(at: 1, [])
        command.expect(command.lifecycle.pipesClosed(), [])
        command.expect(command.lifecycle.terminate(with: SIGTERM, grace: .seconds(1), at: .milliseconds(1)), [])
    }
}

@Suite struct PausableTimeTests {
    @Test func `a reading stands still during a pause and lags behind by all of them`() {
        var time = PausableTime()
        #expect(time.reading(at: .milliseconds(10)) == .milliseconds(10))
        time.pause(at: .milliseconds(10))
        time.pause(at: .milliseconds(12))
        #expect(time.reading(at: .milliseconds(50)) == .milliseconds(10))
        #expect(time.time(of: .milliseconds(20)) == nil)
        time.resume(at: .milliseconds(110))
        time.resume(at: .milliseconds(500))
        #expect(time.reading(at: .milliseconds(111)) == .milliseconds(11))
        #expect(time.time(of: .milliseconds(20)) == .milliseconds(120))
        time.pause(at: .milliseconds(200))
        time.resume(at: .milliseconds(300))
        #expect(time.reading(at: .milliseconds(301)) == .milliseconds(101))
    }
}

extension EventLoopClock.Instant {
    fileprivate static func milliseconds(_ count: Int) -> Self { Self(nanoseconds: Int64(count) * 1_000_000) }
}

/// Tells a lifecycle what happens and compares what it answers.
struct LifecycleDriver {
    fileprivate var lifecycle = ProcessLifecycle()

    fileprivate func expect(
        _ actions: ProcessLifecycle.Actions, _ expected: [ProcessLifecycle.Action],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(Self.list(actions) == expected, sourceLocation: sourceLocation)
    }

    private static func list(_ actions: ProcessLifecycle.Actions) -> [ProcessLifecycle.Action] {
        var list: [ProcessLifecycle.Action] = []
        actions.forEach { list.append($0) }
        return list
    }

    /// The time of the next look.
    fileprivate mutating func wake(afterLookAt time: Int) -> Int? {
        for action in Self.list(lifecycle.looked(isAlive: true, at: .milliseconds(time))) {
            if case .wake(let next) = action { return Int(next.nanoseconds / 1_000_000) }
        }
        return nil
    }

    fileprivate mutating func terminate(
        grace: Int, at time: Int, deadline: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let actions = lifecycle.terminate(with: SIGTERM, grace: .milliseconds(grace), at: .milliseconds(time))
        expect(
            actions, [.send(SIGTERM), .send(SIGCONT), .wake(at: .milliseconds(deadline))],
            sourceLocation: sourceLocation)
    }

    fileprivate mutating func look(
        isAlive: Bool, at time: Int, _ expected: [ProcessLifecycle.Action],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(
            lifecycle.looked(isAlive: isAlive, at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func reap(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.reaped(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func time(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.time(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func kill(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.kill(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func freeze(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.freeze(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func thaw(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.thaw(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }

    fileprivate mutating func readsOn(
        at time: Int, _ expected: [ProcessLifecycle.Action], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expect(lifecycle.readsOn(at: .milliseconds(time)), expected, sourceLocation: sourceLocation)
    }
}
