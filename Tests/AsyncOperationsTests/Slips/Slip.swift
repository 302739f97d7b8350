/// A mistake that is easily made with the library, or a form that looks like one and is right.
struct Slip: Sendable {
    let name: String
    /// Swift that a function holds. A line with a mistake ends in a comment, `// error:` and what the compiler says.
    let code: String

    init(_ name: String, _ code: String) {
        self.name = name
        self.code = code
    }

    /// Each stands in a function of its own with an operation of a number, one of a text that may fail, a compound
    /// operation and a queue.
    static let all = runs + mistakes

    /// What compiles, because nothing has to be said that is not needed.
    private static let runs = [
        Slip(
            "a body without a context, with a name and without",
            """
            let one: AsyncOperation<Int, Never> = AsyncOperation("one") { 1 }
            let two = AsyncOperation { [1, 2] }
            let none = AsyncOperation {}
            """),
        Slip(
            "a body for `run`, without a context and with one",
            """
            let one: Int? = try await queue.run { 1 }
            let two = try await queue.run("two") { context in context.name }
            """),
        Slip("a body for `add`", #"let sum = try await queue.add("one") { 1 }.value + 1"#),
        Slip("a handle for `run`", "let sum = try await queue.run(number) + 1"),
        Slip("an input and no context", #"let next = AsyncOperation("next", from: number.output) { x in x + 1 }"#),
        Slip(
            "an input and no context, several statements",
            """
            let next = AsyncOperation("next", from: number.output) { x in
                let y = x + 1
                return y
            }
            """),
        Slip("an input without a name", #"let next = AsyncOperation("next", from: number.output) { $0 + 1 }"#),
        Slip(
            "an input with a type",
            #"let next = AsyncOperation("next", from: number.output) { (x: Int) -> String in "\(x)" }"#),
        Slip(
            "two inputs, with a context and without",
            """
            let bare = AsyncOperation("bare", from: number.output, text.output) { x, y in "\\(x) \\(y)" }
            let told = AsyncOperation("told", from: number.output, text.output) { context, x, y in context.name + y }
            """),
        Slip("the value of what was never started", "let one = try await AsyncOperation { 1 }.value"),
    ]

    /// What does not, and what the compiler says of it.
    private static let mistakes = [
        Slip(
            "missing `try` before a value",
            "let one = await number.value  // error: property access can throw but is not marked with 'try'"),
        Slip(
            // Its words for a property that belongs to the caller's actor. A method is described better, below.
            "missing `await` before a value",
            """
            let one = try number.value  \
            // error: caller isolation inheriting-isolated property 'value' cannot be accessed from outside of the actor
            """),
        Slip(
            "missing `try` before `run`",
            "let one = await queue.run { 1 }  // error: call can throw but is not marked with 'try'"),
        Slip(
            "missing `await` before `run`",
            "let one = try queue.run { 1 }  // error: expression is 'async' but is not marked with 'await'"),
        Slip(
            "missing `try` before `add`",
            "queue.add(number)  // error: call can throw but is not marked with 'try'"),
        Slip(
            "missing `try` before a compound operation",
            #"let both = CompoundOperation("both") { number }  // error: call can throw but is not marked with 'try'"#),
        Slip(
            "missing `await` before `run` of a compound operation",
            "let reports = try compound.run()  // error: expression is 'async' but is not marked with 'await'"),
        Slip(
            "missing `await` in a body",
            """
            let one = AsyncOperation("one") { fetch() }  \
            // error: expression is 'async' but is not marked with 'await'
            """),
        Slip(
            "missing `try` in a body",
            """
            let one = AsyncOperation("one") { load() }  \
            // error: call can throw, but it is not marked with 'try' and the error is not handled
            """),
        Slip(
            "another type than that of the operation",
            """
            let one: AsyncOperation<String, Never> = AsyncOperation("one") { 1 }  \
            // error: cannot convert value of type 'Int' to closure result type 'String'
            """),
        Slip(
            "another type than that of the operation, with an input",
            """
            let next: AsyncOperation<String, Never> = AsyncOperation("next", from: number.output) { x in
                let y = x + 1
                return y  // error: cannot convert value of type 'Int' to closure result type 'String'
            }
            """),
        Slip(
            "another type than `run` returns",
            """
            let one: String = try await queue.run { 1 }  \
            // error: 'run(_:options:_:)' is unavailable: \
            the body returns a value of another type than the one that is expected here
            """),
        Slip(
            "another type than that of the input",
            """
            let next = AsyncOperation("next", from: number.output) { x in x.count }  \
            // error: value of type 'Int' has no member 'count'
            """),
        Slip(
            "more arguments than inputs",
            """
            let next = AsyncOperation("next", from: number.output) { context, x, y in x }  \
            // error: contextual closure type \
            'nonisolated(nonsending) @Sendable (AsyncOperationContext, Int) async -> Int' expects 2 arguments, \
            but 3 were used in closure body
            """),
        Slip(
            "fewer arguments than inputs",
            """
            let next = AsyncOperation("next", from: number.output, text.output) { x in x }  \
            // error: contextual closure type 'nonisolated(nonsending) @Sendable (Int, String) async -> Int' \
            expects 2 arguments, but 1 was used in closure body
            """),
        Slip(
            "an input that is not used",
            """
            let next = AsyncOperation("next", from: number.output) { 1 }  \
            // error: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
            """),
        Slip(
            "an operation in place of its output",
            """
            let next = AsyncOperation("next", from: number) { x in x + 1 }  \
            // error: cannot convert value of type 'AsyncOperation<Int, Never>' to expected argument type 'Output<Int>'
            """),
        Slip(
            "a value in place of an output",
            """
            let next = AsyncOperation("next", from: 5) { x in x + 1 }  \
            // error: cannot convert value of type 'Int' to expected argument type 'Output<Int>'
            """),
        Slip(
            "a value for `add`",
            "try queue.add(5)  // error: instance method 'add' requires that 'Int' conform to 'AsyncOperationProtocol'"),
        Slip(
            "a compound operation for `run`",
            """
            try await queue.run(compound)  \
            // error: 'run' is unavailable: `run` takes a body or an AsyncOperation; a CompoundOperation has `run(on:)`
            """),
        Slip(
            "a value among members",
            """
            let both = try CompoundOperation("both") {
                number
                5  // error: argument type 'Int' does not conform to expected type 'AsyncOperationProtocol'
            }
            """),
        Slip(
            "jobs of a waterfall that do not fit",
            """
            let steps = Waterfall(from: Int.self, failure: Never.self)
                .then { "\\($0)" }  // error: cannot convert value of type 'String' to closure result type 'Int'
                .then { n in n + 1 }
            """),
        Slip(
            "a job that throws in a waterfall that cannot fail",
            """
            let steps = Waterfall(from: Int.self, failure: Never.self).then { n in try load() }  \
            // error: invalid conversion from throwing function of type '@Sendable (Int) throws -> Int' \
            to non-throwing function type 'nonisolated(nonsending) @Sendable (Int) async -> Int'
            """),
        Slip(
            "a body that throws in an operation that cannot fail",
            """
            let one: AsyncOperation<Int, Never> = AsyncOperation("one") { try load() }  \
            // error: invalid conversion from throwing function of type '@Sendable () throws -> Int' \
            to non-throwing function type 'nonisolated(nonsending) @Sendable () async -> Int'
            """),
        Slip(
            "a body that throws another error than the operation",
            """
            let one: AsyncOperation<Int, LoadError> = AsyncOperation("one") { try load() }  \
            // error: invalid conversion of thrown error type 'any Error' to 'LoadError'
            """),
        Slip(
            "a value that is not `Sendable`",
            """
            let counter = AsyncOperation("counter") { Counter() }  \
            // error: type 'Counter' does not conform to the 'Sendable' protocol
            """),
        Slip(
            "a capture that is not `Sendable`",
            """
            let counter = Counter()
            let one = AsyncOperation("one") { counter.count }  \
            // error: capture of 'counter' with non-Sendable type 'Counter' in a '@Sendable' closure
            """),
        Slip(
            "a variable that a body changes",
            """
            var count = 0
            try await queue.run { count += 1 }  \
            // error: mutation of captured var 'count' in concurrently-executing code
            """),
        Slip(
            "an option that is misspelt",
            """
            let one = AsyncOperation("one", options: .init(timeOut: .seconds(1))) { 1 }  \
            // error: incorrect argument label in call (have 'timeOut:', expected 'timeout:')
            """),
        Slip(
            "a number in place of a duration",
            """
            let one = AsyncOperation("one", options: .init(timeout: 10)) { 1 }  \
            // error: cannot convert value of type 'Int' to expected argument type 'Duration'
            """),
        Slip(
            "a name with a label",
            #"let one = AsyncOperation(name: "one") { 1 }  // error: extraneous argument label 'name:' in call"#),
    ]
}
