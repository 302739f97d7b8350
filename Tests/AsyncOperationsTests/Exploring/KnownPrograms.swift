import AsyncOperations
import Scheduling
import Testing

/// A small program in which the order of things has mattered before.
struct KnownProgram: Sendable, CustomTestStringConvertible {
    let name: String
    let program: Program

    var testDescription: String { name }
}

extension Program {
    static let known: [KnownProgram] =
        [
            KnownProgram(
                name: "a completion adds what needs its operation, on another queue",
                program: dependentAddedByCompletion),
            KnownProgram(name: "a completion starts what needs its operation", program: dependentStartedByCompletion),
            KnownProgram(name: "two queues get an operation and what needs its end", program: dependentElsewhere),
            KnownProgram(
                name: "an operation is added while it is told what it needs", program: dependencyAddedWhilePlaced),
            KnownProgram(name: "a resume meets the end of the last running operation", program: resumeAtTheEnd),
            KnownProgram(name: "a resume meets the start of a body that waits for it", program: resumeAtTheStart),
            KnownProgram(
                name: "a compound operation gets a member while it is cancelled", program: memberAddedWhileCancelled),
            KnownProgram(
                name: "a compound operation gets a member while its last one ends", program: memberAddedAtTheEnd),
            KnownProgram(
                name: "a completion gives a member to a compound operation that fails fast",
                program: memberAddedByCompletion),
            KnownProgram(
                name: "a serial compound operation has a compound one among its members", program: compoundInSerial),
            KnownProgram(
                name: "a compound operation with a limit of time waits for its turn", program: timeoutWhileWaiting),
            KnownProgram(name: "a body cancels its own operation", program: cancelFromInside),
            KnownProgram(name: "a completion adds to a queue that is shut down", program: addWhileShutDown),
            KnownProgram(name: "a dependency comes while its operation starts", program: dependencyAddedAtTheStart),
            KnownProgram(name: "a barrier needs the success of what is before it", program: barrierWithNeed),
            KnownProgram(name: "a barrier is cancelled behind another one", program: barrierCancelled),
            KnownProgram(name: "two compound operations, one in the other, are cancelled", program: cancelInEachOther),
            KnownProgram(
                name: "a compound operation is added while its member is cancelled", program: addWithCancelledMember),
            KnownProgram(
                name: "a suspended queue is let go while an attempt is timed out", program: queueDroppedAtTimeout),
            KnownProgram(
                name: "a compound operation is cancelled while a queue refuses it", program: cancelOfTheRefused),
            KnownProgram(
                name: "an empty compound operation starts while an end is told", program: emptyCompoundHeardOf),
            KnownProgram(name: "an operation is resumed while it ends", program: resumeOfTheEnding),
            KnownProgram(name: "a waterfall that suspends itself is let go", program: droppedWhileSuspended),
            KnownProgram(name: "a dependency comes while readiness is told", program: neededWhileTold),
            KnownProgram(name: "an operation is resumed while its start is refused", program: resumeOfTheRefused),
            KnownProgram(
                name: "a member is cancelled in one round and ruled out in the next", program: cancelBeforeTheNextRound),
            KnownProgram(
                name: "what waits for its next round gets a member and is cancelled", program: cancelBetweenRounds),
            KnownProgram(name: "an operation is started twice while it ends", program: startOfTheEnding),
            KnownProgram(
                name: "an operation is resumed while a queue that is then suspended takes it", program: resumeOfTheTaken
            ),
            KnownProgram(
                name: "what is skipped has a member that was cancelled, which another one needs",
                program: cancelInsideTheSkipped),
            KnownProgram(
                name: "a queue is suspended before a third attempt that wants units", program: suspendedBeforeAnAttempt),
            KnownProgram(
                name: "a group that timed out between its rounds gets a member", program: memberAddedAfterTheTimeout),
        ] + waiting

    static let suspendedBeforeAnAttempt = Program(
        queues: [Queue(width: 3)],
        operations: [Operation(failures: 9, attempts: 3, units: [0: 1, 1: 1]), Operation()],
        clients: [[.add(0, queue: 0), .add(1, queue: 0), .suspendQueue(0)]])

    static let memberAddedAfterTheTimeout = Program(
        queues: [Queue(width: 2)],
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2, timeout: 6),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0, attempts: 2),
            Operation(parent: 1, failures: 9), Operation(),
        ], clients: [[.add(0, queue: 0), .addMember(3, to: 1)]])

    static let resumeOfTheTaken = Program(
        queues: [Queue(width: 3)], operations: [Operation(kind: .waterfall, steps: [.yield, .yield])],
        clients: [[.resume(0)], [.add(0, queue: 0), .suspendQueue(0)]])

    static let cancelInsideTheSkipped = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false)),
            Operation(
                kind: .compound(.concurrent, failsFast: false), parent: 0, needs: [Need(on: 4, kind: .failure)]),
            Operation(parent: 1), Operation(parent: 0, needs: [Need(on: 2, kind: .ok)]), Operation(),
        ], clients: [[.add(4, queue: 0), .add(0, queue: 0)], [.cancel(2)]])

    static let dependentAddedByCompletion = Program(
        queues: [Queue(), Queue()],
        operations: [
            Operation(completion: [.add(1, queue: 1)]), Operation(needs: [Need(on: 0, kind: .ok)]), Operation(),
        ],
        clients: [[.add(0, queue: 0)], [.add(2, queue: 1)]])

    static let dependentStartedByCompletion = Program(
        operations: [Operation(completion: [.start(1)]), Operation(needs: [Need(on: 0, kind: .success)])],
        clients: [[.start(0)]])

    static let dependentElsewhere = Program(
        queues: [Queue(), Queue()],
        operations: [
            Operation(failures: 1), Operation(needs: [Need(on: 0, kind: .failure)]),
            Operation(needs: [Need(on: 0, kind: .ok)]),
        ], clients: [[.add(0, queue: 0)], [.add(1, queue: 1), .add(2, queue: 1)]])

    static let dependencyAddedWhilePlaced = Program(
        queues: [Queue(), Queue()], operations: [Operation(failures: 1), Operation()],
        clients: [[.addDependency(1, on: 0, .success)], [.add(0, queue: 0), .add(1, queue: 1)]])

    static let resumeAtTheEnd = Program(
        queues: [Queue()],
        operations: [Operation(steps: [.waitWhileSuspended]), Operation(steps: [.waitWhileSuspended])],
        clients: [[.add(0, queue: 0), .add(1, queue: 0)], [.suspendQueue(0), .resumeQueue(0)]])

    static let resumeAtTheStart = Program(
        queues: [Queue(isSuspended: true)],
        operations: [Operation(steps: [.waitWhileSuspended, .yield, .waitWhileSuspended])],
        clients: [[.add(0, queue: 0)], [.resumeQueue(0), .suspendQueue(0), .resumeQueue(0)]])

    static let memberAddedWhileCancelled = Program(
        operations: [Operation(kind: .compound(.concurrent, failsFast: false)), Operation()],
        clients: [[.addMember(1, to: 0)], [.cancel(0)]])

    static let memberAddedAtTheEnd = Program(
        operations: [Operation(kind: .compound(.concurrent, failsFast: false)), Operation(parent: 0), Operation()],
        clients: [[.start(0)], [.addMember(2, to: 0)]])

    static let memberAddedByCompletion = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: true)),
            Operation(parent: 0, completion: [.addMember(2, to: 0)], failures: 1), Operation(),
        ], clients: [[.add(0, queue: 0)], [.cancelAll(0)]])

    static let compoundInSerial = Program(
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)), Operation(parent: 0), Operation(parent: 0),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 3),
            Operation(parent: 0),
        ], clients: [[.start(0)]])

    static let timeoutWhileWaiting = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)), Operation(steps: [.sleep(9)], parent: 0),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0, timeout: 5), Operation(parent: 2),
        ], clients: [[.add(0, queue: 0)]])

    static let cancelFromInside = Program(
        queues: [Queue()], operations: [Operation(steps: [.act(.cancel(0))])], clients: [[.add(0, queue: 0)]])

    static let addWhileShutDown = Program(
        queues: [Queue()],
        operations: [Operation(completion: [.add(1, queue: 0)]), Operation()],
        clients: [[.add(0, queue: 0), .cancel(1)], [.shutdown(0, grace: nil)]])

    static let dependencyAddedAtTheStart = Program(
        operations: [Operation(kind: .compound(.concurrent, failsFast: false)), Operation()],
        clients: [[.start(1)], [.addDependency(1, on: 0, .done)]])

    static let barrierCancelled = Program(
        queues: [Queue(width: 2)], operations: [Operation(steps: [.yield]), Operation(), Operation(), Operation()],
        clients: [
            [.add(0, queue: 0), .addBarrier(1, queue: 0), .addBarrier(2, queue: 0), .cancel(2), .add(3, queue: 0)]
        ])

    static let barrierWithNeed = Program(
        queues: [Queue()], operations: [Operation(failures: 1), Operation(needs: [Need(on: 0, kind: .ok)])],
        clients: [[.add(0, queue: 0), .addBarrier(1, queue: 0)]])

    static let cancelInEachOther = Program(
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)),
            Operation(kind: .compound(.serial, failsFast: false), parent: 0),
        ], clients: [[.cancel(1)], [.cancel(0)]])

    static let addWithCancelledMember = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)),
            Operation(kind: .compound(.serial, failsFast: false), parent: 0), Operation(parent: 0),
        ], clients: [[.cancel(1)], [.add(0, queue: 0), .cancel(0)]])

    static let queueDroppedAtTimeout = Program(
        queues: [Queue()], operations: [Operation(attempts: 3, timeout: 7)],
        clients: [[.add(0, queue: 0), .suspendQueue(0), .dropQueue(0)]])

    static let cancelOfTheRefused = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)), Operation(parent: 0),
            Operation(needs: [Need(on: 0, kind: .done)]),
        ], clients: [[.cancel(0)], [.add(2, queue: 0)], [.addBarrier(0, queue: 0)]])

    static let emptyCompoundHeardOf = Program(
        queues: [Queue()], operations: [Operation(), Operation(kind: .compound(.concurrent, failsFast: false))],
        clients: [[.add(0, queue: 0)], [.add(1, queue: 0)], [.listen(0)]])

    static let resumeOfTheEnding = Program(
        operations: [Operation(steps: [.act(.resume(0))])], clients: [[.start(0), .resume(0)]])

    static let droppedWhileSuspended = Program(
        operations: [Operation(kind: .waterfall, steps: [.act(.suspend(0)), .yield])], clients: [[.start(0), .drop(0)]])

    static let resumeOfTheRefused = Program(
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), mutex: "m"), Operation(parent: 0, mutex: "m"),
        ], clients: [[.start(0)], [.resume(0)]])

    static let cancelBeforeTheNextRound = Program(
        queues: [Queue(width: 3)],
        operations: [
            Operation(completion: [.cancel(2)]), Operation(kind: .compound(.serial, failsFast: false), attempts: 2),
            Operation(parent: 1, needs: [Need(on: 0, kind: .failure)]), Operation(parent: 1, failures: 9),
        ], clients: [[.add(1, queue: 0)], [.add(0, queue: 0)]])

    static let cancelBetweenRounds = Program(
        queues: [Queue(width: 3)],
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2), Operation(parent: 0, failures: 9),
            Operation(), Operation(completion: [.cancel(0)]),
        ], clients: [[.add(0, queue: 0), .addMember(2, to: 0)], [.add(3, queue: 0)]])

    static let startOfTheEnding = Program(
        operations: [Operation(kind: .compound(.concurrent, failsFast: false))], clients: [[.start(0)], [.start(0)]])

    static let neededWhileTold = Program(
        queues: [Queue(width: 3)], operations: [Operation(), Operation(), Operation()],
        clients: [
            [.add(1, queue: 0), .suspendQueue(0), .addDependency(1, on: 0, .failure)], [.addBarrier(2, queue: 0)],
        ])
}
