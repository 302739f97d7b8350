/// The core of an operation whose result is the value or error of its body. Unchecked like its superclass.
///
/// The closure creates the result: it is compiled where the types are known, so no lookup is needed.
@usableFromInline final class BodyCore: OperationCore, @unchecked Sendable {
    @usableFromInline typealias Body = @Sendable (AsyncOperationContext) async -> Made

    // Set until the end. The end comes once, after the last run of the body, so no lock is needed.
    @exclusivity(unchecked) private nonisolated(unsafe) var body: Body?

    @usableFromInline init(_ name: String, _ options: OperationOptions, body: @escaping Body) {
        self.body = body
        super.init(AsyncOperationID(name), .made(of: options))
    }

    override func perform(_ control: BodyControl) async -> BodyEnd {
        // Only the end removes the body, and the operation does not end while it runs.
        guard let body else { return .stopped(.abandoned) }
        return end(with: await body(AsyncOperationContext(control: control)))
    }

    override func releaseBody() { body = nil }
}

/// The core of an operation whose body stores its result itself. Unchecked like its superclass.
final class StoringBodyCore: OperationCore, @unchecked Sendable {
    typealias Body = @Sendable (AsyncOperationContext, OperationCore) async -> BodyEnd

    /// Guarded as in `BodyCore`.
    @exclusivity(unchecked) private nonisolated(unsafe) var body: Body?

    init(_ name: String, _ settings: OperationSettings?, needs: [Need], body: @escaping Body) {
        self.body = body
        super.init(AsyncOperationID(name), settings, needs: needs)
        for need in needs { need.core.noteNeed() }
    }

    override func perform(_ control: BodyControl) async -> BodyEnd {
        guard let body else { return .stopped(.abandoned) }
        return await body(AsyncOperationContext(control: control), self)
    }

    override func releaseBody() { body = nil }
}
