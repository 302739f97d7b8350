/// The core of an operation whose body is a function: what that returns or throws is what it makes. Unchecked like its
/// superclass.
final class BodyCore<Success: Sendable, Failure: Error>: OperationCore, @unchecked Sendable {
    typealias Body = @Sendable (AsyncOperationContext) async throws(Failure) -> Success

    // There until the end, which comes once: whoever brings it about lets go of it, when nobody runs it any more. So it
    // needs no lock.
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

/// The core of an operation whose body stores itself what it makes. Unchecked like its superclass.
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
