import Glibc

/// A thread of a `ControlledExecutor`. It goes on only when it is given the turn, and gives the turn away before it
/// waits for it again, so that of all processors of an executor one runs at a time.
final class Processor: @unchecked Sendable {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The one whose thread this is; nil on every other thread.
    static var current: Processor? {
        pthread_getspecific(key).map { Unmanaged<Processor>.fromOpaque($0).takeUnretainedValue() }
    }

    let number: Int
    unowned let executor: ControlledExecutor
    /// What it is at; nil while it has nothing to do.
    var job: ControlledExecutor.Job?
    /// The lock it is about to take.
    var wantedLock: UInt64?
    var heldLocks: [UInt64] = []
    /// How many cancellations of tasks it is in the middle of.
    var cancelDepth = 0
    private let turn = Turn()

    /// Never freed: its thread may stand in the middle of a job forever.
    init(_ number: Int, of executor: ControlledExecutor) {
        self.number = number
        self.executor = executor
        Self.startThread { [self] in
            pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
            repeat { turn.wait() } while executor.work(on: self)
        }
    }

    func giveTurn() { turn.give() }
    func waitForTurn() { turn.wait() }

    /// Whether it stands in the middle of a job and nothing keeps it there.
    var canGoOn: Bool {
        guard job != nil else { return false }
        return wantedLock.map(executor.isFree) ?? true
    }

    /// What `body` returns, which may block, because it runs on a thread of its own.
    static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: body()) }
        }
    }

    /// Runs `body` on a thread of its own.
    static func startThread(_ body: @escaping @Sendable () -> Void) {
        final class Start {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(body)).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { start in
                start.map { Unmanaged<Start>.fromOpaque($0).takeRetainedValue().body() }
                return nil
            }, start)
        precondition(status == 0, "no thread to be had")
        pthread_detach(thread)
    }
}

/// What one thread waits for and another one gives.
final class Turn: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func give() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}
