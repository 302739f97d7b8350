internal import Glibc
package import ProcessExecution
internal import Synchronization

/// Makes hashes away from the event loop: on a thread, or in tests when the test says.
@EventLoopActor
package protocol FileHasher: AnyObject {
    /// Begins a hash. Calls `done` once, on the event loop and never during this call; perhaps never, or too late, if the
    /// task is given up.
    func begin(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void)
}

/// One hash that is to be made.
package final class HashTask: Sendable {
    package let patterns: [String]
    /// What relative patterns are relative to.
    package let folder: String
    private let givenUp = Atomic(false)

    init(_ patterns: [String], in folder: String) {
        self.patterns = patterns
        self.folder = folder
    }

    /// Whether nobody waits for the hash any more. From any thread.
    package var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }

    /// Lets whoever makes the hash stop at the next file or block. Never waits.
    func giveUp() { givenUp.store(true, ordering: .relaxed) }
}

/// Makes each hash on a thread of its own, which ends with it.
@EventLoopActor
package final class HashThread: FileHasher {
    package nonisolated init() {}

    private final class Work: Sendable {
        let task: HashTask
        let done: @EventLoopActor (FileHash.Answer) -> Void

        init(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void) {
            self.task = task
            self.done = done
        }

        func run() {
            let answer = Result { () throws(FileHash.ReadError) -> String? in
                try FileHash.hash(task.patterns, in: task.folder) { task.isGivenUp }
            }
            switch answer {
            case .success(let hash?): tell(.success(hash))
            case .success(nil): break
            case .failure(let error): tell(.failure(error))
            }
        }

        func tell(_ answer: FileHash.Answer) {
            Task { @EventLoopActor in done(answer) }
        }
    }

    package func begin(_ task: HashTask, _ done: @escaping @EventLoopActor (FileHash.Answer) -> Void) {
        let work = Work(task, done)
        guard let error = Self.startThread(work) else { return }
        let reason = "no thread to read it, \(String(cString: strerror(error)))"
        work.tell(.failure(FileHash.ReadError(path: task.patterns.joined(separator: ", "), reason: reason)))
    }

    /// Returns the error number if there is no thread to be had.
    private nonisolated static func startThread(_ work: Work) -> Int32? {
        let argument = Unmanaged.passRetained(work).toOpaque()
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let error = pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, argument)
        guard error != 0 else { return nil }
        Unmanaged<Work>.fromOpaque(argument).release()
        return error
    }
}
