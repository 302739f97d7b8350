import AsyncOperations
import Synchronization

/// Closed until somebody opens it; whoever comes before waits, whatever becomes of its task.
final class Latch: Sendable {
    private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// What happened, in order, from any thread.
final class Record<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    func add(_ entry: Entry) { state.withLock { $0.append(entry) } }
    var entries: [Entry] { state.withLock { $0 } }
}

/// How many were at one place at once.
final class Crowd: Sendable {
    private let state = Mutex<(now: Int, most: Int)>((0, 0))

    func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
    func leave() { state.withLock { $0.now -= 1 } }
    var most: Int { state.withLock { $0.most } }
    var now: Int { state.withLock { $0.now } }
}

/// Two or more that go on only when all have come.
final class Meeting: Sendable {
    private let missing: Mutex<Int>
    private let latch = Latch()

    init(of count: Int) { missing = Mutex(count) }

    func come() async {
        let isComplete = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isComplete { latch.open() }
        await latch.wait()
    }
}

struct TestError: Error, Hashable {
    let number: Int
    init(_ number: Int = 0) { self.number = number }
}

/// Waits until the task is cancelled.
func untilCancelled() async {
    let latch = Latch()
    await withTaskCancellationHandler {
        await latch.wait()
    } onCancel: {
        latch.open()
    }
}

/// An operation that tells when it is up and ends when it is told to stop.
func hanging(
    _ name: String = "", up: Latch? = nil, options: OperationOptions = .init()
) -> AsyncOperation<Void, Never> {
    AsyncOperation(name, options: options) { _ in
        up?.open()
        await untilCancelled()
    }
}

/// An operation that tells when it is up and goes on, whatever it is told, when `go` opens.
func holding(_ name: String = "", up: Latch? = nil, until go: Latch) -> AsyncOperation<Void, Never> {
    AsyncOperation(name) { _ in
        up?.open()
        await go.wait()
    }
}

func failing(
    _ name: String = "", _ number: Int = 0, options: OperationOptions = .init()
) -> AsyncOperation<Void, TestError> {
    AsyncOperation(name, options: options) { _ async throws(TestError) in throw TestError(number) }
}

func nothing(_ name: String = "", options: OperationOptions = .init()) -> AsyncOperation<Void, Never> {
    AsyncOperation(name, options: options) { _ in }
}

/// All kinds of events of one operation up to its end.
func kinds(
    _ events: AsyncStream<AsyncOperationQueue.Event>, of id: AsyncOperationID
) async -> [AsyncOperationQueue.Event.Kind] {
    var kinds: [AsyncOperationQueue.Event.Kind] = []
    for await event in events where event.id == id {
        kinds.append(event.kind)
        if case .finished = event.kind { break }
    }
    return kinds
}

/// The limit of its own that a compound operation ran into.
func limit(of compound: CompoundOperation) async -> [Duration] {
    guard case .failure(.timedOut(let limit, compound.id, _)) = await compound.result else { return [] }
    return [limit]
}

/// `Void` is not equatable, but two ends without a value are.
func == <Failure: Error & Equatable>(
    left: Result<Void, OperationFailure<Failure>>, right: Result<Void, OperationFailure<Failure>>
) -> Bool {
    left.withoutValue == right.withoutValue
}

extension Result where Success == Void {
    fileprivate var withoutValue: Result<Bool, Failure> { map { true } }
}

/// An operation's failure, whatever its body throws.
protocol FailureOfAnyBody: Error {
    var outcome: OperationOutcome? { get }
}

extension OperationFailure: FailureOfAnyBody {}

extension Result where Failure: FailureOfAnyBody {
    /// How the operation ended. Traps for a wait that is refused.
    var outcome: OperationOutcome {
        switch self {
        case .success: return .success
        case .failure(let failure):
            guard let outcome = failure.outcome else { preconditionFailure("no end: \(failure)") }
            return outcome
        }
    }
}
