import AsyncOperations
import Scheduling

// Programs that hung because something waited for itself in a way that was not seen.

extension Program {
    static let waiting: [KnownProgram] = [
        KnownProgram(name: "two bodies wait for each other", program: bodiesInARing),
        KnownProgram(name: "a body waits for what is added behind it", program: waitForWhatIsBehind),
        KnownProgram(name: "a body waits, over another queue, for what is behind it", program: waitOverAnotherQueue),
        KnownProgram(name: "all members that may run wait for one that may not", program: waitForAPlace),
        KnownProgram(name: "a body waits for what wants its mutex", program: waitForAMutex),
        KnownProgram(name: "a member waits for its sibling in what is tried again", program: waitInsideRounds),
        KnownProgram(
            name: "a member waits, over another queue, for its sibling in what is tried again",
            program: waitInsideRoundsOverAnother),
        KnownProgram(name: "the bodies of two queues wait for each other to be idle", program: queuesInARing),
        KnownProgram(name: "a body waits for one that waits for its queue to be idle", program: waitForTheOwnQueue),
        KnownProgram(
            name: "a body that waits for an idle queue is in one cycle, and who waits for it in another",
            program: idleQueueInTwoRings),
        KnownProgram(name: "an empty compound operation finds no turn", program: waitForAnEmptyCompound),
        KnownProgram(name: "what is waited for ends without a place", program: waitForWhatNeedsNoPlace),
        KnownProgram(name: "what holds a mutex gets a member that needs who wants it", program: lateNeedOfAHolder),
        KnownProgram(
            name: "what holds a place gets a member that needs, over another queue, who wants one",
            program: lateNeedOfAMember),
        KnownProgram(
            name: "a group must not take the place that its members wait for over another queue",
            program: placeNeededElsewhere),
        KnownProgram(
            name: "a group gets a need of the place it takes while it starts", program: placeNeededWhileStarting),
        KnownProgram(name: "groups need a second place while they keep theirs", program: secondPlaces),
        KnownProgram(name: "what is tried again is inside what is tried again", program: roundsInRounds),
        KnownProgram(name: "a body begins to wait for what is just ending", program: waitAtTheEnd),
        KnownProgram(name: "a body waits in a queue that is made narrower while others run", program: narrowed),
        KnownProgram(
            name: "a group takes the last place while a body that has one begins to wait for it", program: placeTaken),
        KnownProgram(
            name: "what a body was not let wait for gets free, because another wait on the way is refused later",
            program: freedLater),
        KnownProgram(
            name: "what a body waits for joins what is tried again and wants the body's mutex", program: joinsRounds),
        KnownProgram(name: "what a wait tries to start in vain is dropped meanwhile", program: droppedInVain),
        KnownProgram(
            name: "what was ruled out in a round gets what it needs for a sibling before the next",
            program: neededSiblingJoins),
        KnownProgram(
            name: "a group has a member that needs the operation after which it starts", program: neededAndHeldBackBy),
        KnownProgram(
            name: "two groups need what starts before both and takes what they take", program: crossedBehindTheSame),
    ]

    static let neededSiblingJoins = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: true), attempts: 3),
            Operation(parent: 0, needs: [Need(on: 2, kind: .ok)]), Operation(),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 3, failures: 1),
        ], clients: [[.add(0, queue: 0), .addMember(2, to: 0)]])

    static let neededAndHeldBackBy = Program(
        queues: [Queue(width: 4, isSuspended: true)],
        operations: [
            Operation(), Operation(failures: 1), Operation(kind: .compound(.concurrent, failsFast: false), mutex: "m"),
            Operation(
                kind: .compound(.concurrent, failsFast: false), parent: 2, needs: [Need(on: 7, kind: .ok)], mutex: "n"),
            Operation(parent: 3, needs: [Need(on: 0, kind: .done)]), Operation(parent: 2), Operation(parent: 2),
            Operation(needs: [Need(on: 1, kind: .failure)], mutex: "n"),
        ],
        clients: [
            [.addTogether([1, 2], queue: 0), .addDependency(3, on: 5, .done)],
            [.add(7, queue: 0), .addDependency(0, on: 6, .ok)],
        ])

    static let crossedBehindTheSame = Program(
        queues: [Queue(width: 1, isSuspended: true)],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false), mutex: "n"), Operation(parent: 0, mutex: "m"),
            Operation(kind: .compound(.concurrent, failsFast: false), needs: [Need(on: 4, kind: .failure)], mutex: "m"),
            Operation(parent: 2, needs: [Need(on: 0, kind: .ok)]), Operation(),
            Operation(kind: .compound(.concurrent, failsFast: false), mutex: "n"),
            Operation(parent: 5, needs: [Need(on: 1, kind: .done)]),
        ], clients: [[.addTogether([0, 2, 5], queue: 0)]])

    static let droppedInVain = Program(
        operations: [
            Operation(steps: [.await(2)]), Operation(kind: .compound(.concurrent, failsFast: false), mutex: "m"),
            Operation(parent: 1, mutex: "m"),
        ],
        clients: [[.start(0)], [.drop(1)]])

    static let bodiesInARing = Program(
        operations: [Operation(steps: [.await(1)]), Operation(steps: [.awaitValue(0)])],
        clients: [[.start(0)], [.start(1)]])

    static let waitForWhatIsBehind = Program(
        queues: [Queue(width: 1)], operations: [Operation(steps: [.await(1)]), Operation()],
        clients: [[.add(0, queue: 0)], [.add(1, queue: 0)]])

    static let waitOverAnotherQueue = Program(
        queues: [Queue(width: 1)],
        operations: [Operation(steps: [.await(2)]), Operation(), Operation(needs: [Need(on: 1, kind: .ok)])],
        clients: [[.add(0, queue: 0), .add(1, queue: 0)], [.start(2)]])

    static let waitForAPlace = Program(
        operations: [
            Operation(kind: .compound(.limited(2), failsFast: false)), Operation(steps: [.await(3)], parent: 0),
            Operation(steps: [.await(3)], parent: 0), Operation(parent: 0),
        ], clients: [[.start(0)]])

    static let waitForAMutex = Program(
        queues: [Queue()], operations: [Operation(steps: [.await(1)], mutex: "m"), Operation(mutex: "m")],
        clients: [[.add(0, queue: 0)], [.add(1, queue: 0)]])

    static let waitInsideRounds = Program(
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2), Operation(parent: 0),
            Operation(steps: [.await(1)], parent: 0, failures: 1),
        ], clients: [[.start(0)]])

    static let waitInsideRoundsOverAnother = Program(
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2), Operation(parent: 0),
            Operation(steps: [.await(3)], parent: 0), Operation(needs: [Need(on: 1, kind: .ok)]),
        ], clients: [[.start(0)], [.start(3)]])

    static let queuesInARing = Program(
        queues: [Queue(), Queue()],
        operations: [Operation(steps: [.awaitIdle(1)]), Operation(steps: [.awaitIdle(0)])],
        clients: [[.add(0, queue: 0)], [.add(1, queue: 1)]])

    static let waitForTheOwnQueue = Program(
        queues: [Queue(width: 1)],
        operations: [Operation(steps: [.act(.start(1)), .await(1)]), Operation(steps: [.awaitIdle(0)])],
        clients: [[.add(0, queue: 0)]])

    static let idleQueueInTwoRings = Program(
        queues: [Queue(width: 2), Queue(width: 1)],
        operations: [
            Operation(steps: [.awaitIdle(1), .yield]), Operation(steps: [.waitWhileSuspended, .await(0)]),
            Operation(needs: [Need(on: 1, kind: .ok)]), Operation(needs: [Need(on: 0, kind: .success)]),
        ], clients: [[.add(0, queue: 0), .add(1, queue: 0), .add(2, queue: 1), .add(3, queue: 1)]])

    static let waitForAnEmptyCompound = Program(
        queues: [Queue(width: 1)],
        operations: [
            Operation(), Operation(steps: [.await(2)]),
            Operation(kind: .compound(.concurrent, failsFast: false), needs: [Need(on: 0, kind: .ok)]),
        ], clients: [[.add(1, queue: 0), .add(2, queue: 0)], [.start(0)]])

    static let waitForWhatNeedsNoPlace = Program(
        queues: [Queue(width: 1)],
        operations: [
            Operation(failures: 1), Operation(steps: [.await(2)]), Operation(needs: [Need(on: 0, kind: .ok)]),
        ], clients: [[.add(1, queue: 0), .add(2, queue: 0)], [.start(0)]])

    static let lateNeedOfAHolder = Program(
        queues: [Queue()],
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), mutex: "m"), Operation(parent: 0),
            Operation(mutex: "m"), Operation(needs: [Need(on: 2, kind: .ok)]),
        ], clients: [[.add(0, queue: 0), .add(2, queue: 0)], [.addMember(3, to: 0), .add(3, queue: 0)]])

    static let lateNeedOfAMember = Program(
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 1),
            Operation(parent: 0), Operation(needs: [Need(on: 3, kind: .ok)]),
            Operation(needs: [Need(on: 4, kind: .ok)]),
        ], clients: [[.start(0)], [.start(4), .addMember(5, to: 1), .start(5)]])

    static let placeNeededElsewhere = Program(
        queues: [Queue(), Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 1),
            Operation(parent: 1, needs: [Need(on: 5, kind: .ok)]), Operation(parent: 0),
            Operation(needs: [Need(on: 4, kind: .ok)]),
        ], clients: [[.add(0, queue: 0)], [.add(5, queue: 1)]])

    static let placeNeededWhileStarting = Program(
        queues: [Queue(), Queue()],
        operations: [
            Operation(kind: .compound(.serial, failsFast: false)),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 1),
            Operation(parent: 0), Operation(needs: [Need(on: 3, kind: .ok)]),
        ], clients: [[.add(0, queue: 0)], [.addDependency(2, on: 4, .ok), .add(4, queue: 1)]])

    static let secondPlaces = Program(
        operations: [
            Operation(kind: .compound(.limited(2), failsFast: false)),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0), Operation(parent: 1),
            Operation(parent: 1), Operation(kind: .compound(.concurrent, failsFast: false), parent: 0),
            Operation(parent: 4), Operation(parent: 4), Operation(parent: 0, needs: [Need(on: 2, kind: .done)]),
            Operation(parent: 0, needs: [Need(on: 5, kind: .done)]),
        ], clients: [[.addDependency(3, on: 7, .done), .start(0)], [.addDependency(6, on: 8, .done)]])

    static let waitAtTheEnd = Program(
        queues: [Queue(width: 3)], operations: [Operation(steps: [.run(0)])], clients: [[.start(0)]])

    static let narrowed = Program(
        queues: [Queue(width: 2)], operations: [Operation(steps: [.run(0)]), Operation()],
        clients: [[.add(1, queue: 0), .setWidth(0, 1)], [.add(0, queue: 0)]])

    static let placeTaken = Program(
        queues: [Queue(width: 2)],
        operations: [
            Operation(), Operation(kind: .compound(.limited(2), failsFast: false)),
            Operation(steps: [.await(4)], parent: 1),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 1), Operation(parent: 3),
        ], clients: [[.add(0, queue: 0), .add(1, queue: 0)]])

    static let freedLater = Program(
        queues: [Queue(width: 1)],
        operations: [
            Operation(steps: [.awaitIdle(0)]), Operation(steps: [.await(2)]),
            Operation(needs: [Need(on: 0, kind: .ok)]), Operation(needs: [Need(on: 1, kind: .ok)]),
        ], clients: [[.add(3, queue: 0), .start(0), .start(1), .add(2, queue: 0)]])

    /// The last operation starts at once and could end, but its end counts only after the last round.
    static let joinsRounds = Program(
        queues: [Queue()],
        operations: [
            Operation(steps: [.await(3)], mutex: "m"),
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2), Operation(parent: 1, mutex: "m"),
            Operation(),
        ], clients: [[.add(0, queue: 0), .add(1, queue: 0)], [.addMember(3, to: 1)]])

    static let roundsInRounds = Program(
        operations: [
            Operation(kind: .compound(.concurrent, failsFast: false), attempts: 2),
            Operation(kind: .compound(.concurrent, failsFast: false), parent: 0, attempts: 2),
            Operation(parent: 1, failures: 1), Operation(parent: 0, needs: [Need(on: 2, kind: .ok)], failures: 1),
        ], clients: [[.start(0)]])
}
