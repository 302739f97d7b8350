import Testing

@testable import Scheduling

/// Conditions, lists and outcomes of groups that are told some time after they were asked for.
@Suite struct LateAnswerTests {
    private typealias Command = OperationScheduler.Command

    /// A group that asks, alone in a run that has begun.
    private func begun(
        isExpandable: Bool = false, concludes: Bool = false
    ) -> (scheduler: OperationScheduler, group: OperationID) {
        var graph = OperationGraph()
        let group = graph.beginGroup(isExpandable: isExpandable, concludes: concludes)
        graph.endGroup()
        var scheduler = OperationScheduler(graph, width: 1)
        let commands = scheduler.handle(.begin, at: .zero)
        #expect(commands.last == (isExpandable ? .expand(group) : .conclude(group, .success)))
        return (scheduler, group)
    }

    @Test func `a group that is stopped while it expands ends with the answer, whatever that is`() {
        var (scheduler, group) = begun(isExpandable: true)
        #expect(
            scheduler.handle(.cancel(.root), at: .seconds(1)) == [.groupStopping(.root, .request), .withdraw(group)])
        #expect(
            scheduler.handle(.ended(group, .failure, mayRetry: true), at: .seconds(2)) == [
                .finished(group, .cancelled, .request), .finished(.root, .cancelled, .request),
            ])
    }

    @Test func `members that come to a group that was stopped meanwhile are cancelled before it ends`() {
        var (scheduler, group) = begun(isExpandable: true)
        _ = scheduler.handle(.cancel(group), at: .seconds(1))
        var expansion = OperationGraph(joiningAt: scheduler.count)
        let member = expansion.addOperation()
        #expect(
            scheduler.handle(.expanded(group, expansion), at: .seconds(2)) == [
                .finished(member, .cancelled, .request), .finished(group, .cancelled, .request),
                .finished(.root, .cancelled, .member(group)),
            ])
    }

    @Test func `a group that is stopped while it concludes is cancelled with the answer, whatever that is`() {
        for answer in [OperationOutcome.success, .failure] {
            var (scheduler, group) = begun(concludes: true)
            #expect(
                scheduler.handle(.cancel(group), at: .seconds(1)) == [
                    .groupStopping(group, .request), .withdraw(group),
                ])
            #expect(scheduler.handle(.cancel(group), at: .seconds(1)) == [])
            #expect(
                scheduler.handle(.ended(group, answer, mayRetry: true), at: .seconds(2)) == [
                    .finished(group, .cancelled, .request), .finished(.root, .cancelled, .member(group)),
                ])
        }
    }

    @Test func `the limit of what is around it stops a group that concludes`() {
        var graph = OperationGraph(timeout: .seconds(5))
        let group = graph.beginGroup(concludes: true)
        graph.endGroup()
        var scheduler = OperationScheduler(graph, width: 1)
        _ = scheduler.handle(.begin, at: .zero)
        #expect(
            scheduler.handle(.time, at: .seconds(5)) == [
                .groupStopping(.root, .deadline(.root)), .withdraw(group),
            ])
        #expect(
            scheduler.handle(.ended(group, .success, mayRetry: false), at: .seconds(6)) == [
                .finished(group, .cancelled, .deadline(.root)), .finished(.root, .timeout, .deadline(.root)),
            ])
    }

    @Test func `hooks of a group are done before it concludes, and a stop then reaches none of them`() {
        var graph = OperationGraph()
        graph.beginGroup(concludes: true)
        let body = graph.addOperation()
        graph.beginHook(.finally)
        let hook = graph.addOperation()
        graph.endGroup()
        graph.endGroup()
        var scheduler = OperationScheduler(graph, width: 1)
        _ = scheduler.handle(.begin, at: .zero)
        _ = scheduler.handle(.ended(body, .success, mayRetry: false), at: .seconds(1))
        #expect(scheduler.handle(.cancel(.root), at: .seconds(2)) == [.groupStopping(.root, .request)])
        #expect(scheduler.outcome(of: hook) == nil)
    }

    @Test func `a condition that is decided after its row was cancelled changes nothing`() {
        var graph = OperationGraph()
        let step = graph.addOperation(.init(isConditional: true))
        let other = graph.addOperation()
        var scheduler = OperationScheduler(graph, width: 1)
        #expect(scheduler.handle(.begin, at: .zero).contains(.decide(step)))
        #expect(scheduler.handle(.cancel(step), at: .seconds(1)) == [.finished(step, .cancelled, .request)])
        #expect(scheduler.handle(.decided(step, .run), at: .seconds(2)) == [])
        #expect(scheduler.outcome(of: other) == nil)
    }

    @Test func `what is being decided takes neither a slot nor a lock, and is no stall`() {
        var graph = OperationGraph()
        let mutex = graph.addMutex()
        let asked = graph.addOperation(.init(priority: 9, locks: [LockRequest(lock: mutex)], isConditional: true))
        let other = graph.addOperation(.init(locks: [LockRequest(lock: mutex)]))
        var scheduler = OperationScheduler(graph, width: 1)
        #expect(scheduler.handle(.begin, at: .zero).contains(.start(other, attempt: 1)))
        #expect(
            scheduler.handle(.ended(other, .success, mayRetry: false), at: .seconds(1)) == [
                .finished(other, .success, .itself)
            ])
        #expect(scheduler.handle(.decided(asked, .run), at: .seconds(9)) == [.start(asked, attempt: 1)])
    }
}
