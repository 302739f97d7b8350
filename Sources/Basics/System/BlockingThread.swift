internal import Glibc

/// A thread for work that blocks, so that it holds up neither an event loop nor one of the few threads that tasks share.
package enum BlockingThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `work` on a thread of its own, which ends with it. Throws if there is none to be had.
    package static func run(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        let argument = Unmanaged.passRetained(Work(work)).toOpaque()
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
        guard error != 0 else { return }
        Unmanaged<Work>.fromOpaque(argument).release()
        throw SystemError(error)
    }
}
