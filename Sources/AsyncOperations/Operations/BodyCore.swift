/// The core of an operation whose result is what its body returns or throws. Unchecked like its superclass.
final class BodyCore<Success: Sendable, Failure: Error>: OperationCore, @unchecked Sendable {
    typealias Body = @Sendable (AsyncOperationContext) async throws(Failure) -> Success

    // Set until the end. That comes once, and releases the body after its last run, so no lock is needed.
    private nonisolated(unsafe) var body: Body?

    init(_ name: String, _ options: OperationOptions, body: @escaping Body) {
        self.body = body
        super.init(AsyncOperationID(name), options)
    }

    override func perform(_ control: BodyControl) async -> BodyEnd {
        // Only the end removes it, and there is no end while it runs.
        guard let body else { return .stopped(.abandoned) }
        do throws(Failure) {
            return end(with: .value(ValueBox(try await body(AsyncOperationContext(control: control)))), in: control)
        } catch {
            return end(with: .error(error), in: control)
        }
    }

    override func releaseBody() { body = nil }
}

/// The core of an operation whose body stores its result itself. Unchecked like its superclass.
final class StoringBodyCore: OperationCore, @unchecked Sendable {
    typealias Body = @Sendable (AsyncOperationContext, OperationCore) async -> BodyEnd

    /// As in `BodyCore`.
    private nonisolated(unsafe) var body: Body?

    init(_ name: String, _ options: OperationOptions, needs: [Need], body: @escaping Body) {
        self.body = body
        super.init(AsyncOperationID(name), options, needs: needs)
        for need in needs { need.core.noteNeed() }
    }

    override func perform(_ control: BodyControl) async -> BodyEnd {
        guard let body else { return .stopped(.abandoned) }
        return await body(AsyncOperationContext(control: control), self)
    }

    override func releaseBody() { body = nil }
}
