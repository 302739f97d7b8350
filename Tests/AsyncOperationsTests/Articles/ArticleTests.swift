import AsyncOperations
import FlowrunTestSupport
import Foundation
import Synchronization
import Testing

/// The code of the articles, between markers with the name of the article: FlowrunDocumentationTests holds both equal.
@Suite(.timeLimit(.minutes(20))) struct ArticleTests {
    @Test func `first steps`() async throws {
        // BEGIN FirstSteps
        let queue = AsyncOperationQueue("work")
        let answer = try await queue.run { 6 * 7 }
        // END FirstSteps
        #expect(answer == 42)

        // BEGIN FirstSteps
        let numbers = try queue.add("numbers") { [3, 1, 2] }
        let sorted = AsyncOperation("sorted", from: numbers.output) { numbers in numbers.sorted() }
        try queue.add(sorted)
        print(answer, try await sorted.value)
        // END FirstSteps
        #expect(try await sorted.value == [1, 2, 3])

        // BEGIN FirstSteps
        let both = try CompoundOperation("both") {
            AsyncOperation("left") { 1 }
            AsyncOperation("right") { 2 }
        }
        for report in try await both.run() { print(report) }
        // END FirstSteps
        #expect(both.reports.count == 2)

        let site = ["/": ["/a", "/b"], "/a": ["/b", "/c"], "/b": ["/"], "/c": []]
        @Sendable func links(on page: String) async throws -> [String] { site[page] ?? [] }
        // BEGIN FirstSteps
        let seen = Mutex<Set<String>>(["/"])
        @Sendable func visit(_ page: String) -> AsyncOperation<Void, any Error> {
            AsyncOperation(page, options: OperationOptions(timeout: .seconds(10))) { context in
                for link in try await links(on: page) where seen.withLock({ $0.insert(link).inserted }) {
                    try context.produce(visit(link))
                }
            }
        }
        let crawl = try CompoundOperation("crawl", mode: .limited(8)) { visit("/") }
        let pages = try await crawl.run().map(\.name)
        // END FirstSteps
        #expect(pages.sorted() == ["/", "/a", "/b", "/c"])
    }

    @Test func `a chain of requests`() async throws {
        // BEGIN ChainOfRequests
        enum FetchError: Error {
            case badPath(String)
            case status(Int)
        }

        struct Comment: Equatable { let text: String }

        @Sendable func send(_ request: String) async throws(FetchError) -> [String] {
            request.hasSuffix("comments") ? ["first", "second"] : []
        }

        let fetchComments = Waterfall("comments", from: String.self, failure: FetchError.self)
            .then { path throws(FetchError) in
                guard path.hasPrefix("/") else { throw .badPath(path) }
                return "GET https://example.org\(path)"
            }
            .then(send)
            .then { texts in texts.map { Comment(text: $0) } }

        let comments = try await fetchComments.run("/comments")
        // END ChainOfRequests
        #expect(comments == [Comment(text: "first"), Comment(text: "second")])
        await #expect(throws: (any Error).self) { try await fetchComments.run("comments") }

        // BEGIN ChainOfRequests
        let patient = Waterfall("comments", from: String.self, failure: FetchError.self)
            .then("request") { path in "GET https://example.org\(path)" }
            .then("send", timeout: .seconds(10), retry: RetryPolicy(attempts: 3)) { context, text throws(FetchError) in
                try await send(text)
            }
            .then("store", mutexes: ["database"], whenStopped: .leave) { texts, completion in
                completion.succeed(texts.count)  // now or much later, from any thread
            }
        let stored = patient.operation("/comments")
        try stored.start()
        for await progress in stored.progressUpdates() {
            let next = patient.jobNames.dropFirst(progress.completed).first
            print("\(progress.completed) of \(progress.total)", next ?? "done")
        }
        // END ChainOfRequests
        #expect(try await stored.value == 2)

        // BEGIN ChainOfRequests
        let operation = fetchComments.operation("/comments")
        operation.addCompletion { result in print("ended:", result) }
        try operation.start()
        operation.cancel()
        // END ChainOfRequests
        _ = await operation.result
    }

    @Test func `a compound of mixed operations`() async throws {
        let failure: CompoundOperation.Failure?
        // BEGIN MixedOperations
        struct Unreachable: Error {}

        let compute = AsyncOperation<Int, Never>.blocking("compute") {
            (1...1000).reduce(0, +)  // blocks a thread of its own
        }
        let legacy = AsyncOperation<String, Unreachable>("legacy", whenStopped: .wait) { completion in
            completion.fail(Unreachable())  // now or much later, from any thread
        }
        let report = AsyncOperation("report", from: compute.output) { sum in "the sum is \(sum)" }

        let nightly = try CompoundOperation("nightly", mode: .limited(2)) {
            compute
            legacy
            report
        }
        try nightly.start()

        switch await nightly.result {
        case .success(let reports): print("all \(reports.count) succeeded")
        case .failure(.failed(let failure)): print("failed:", failure.leaves.map(\.name))
        case .failure(let other): print(other)  // such as "cancelled: on request"
        }
        // END MixedOperations
        if case .failure(.failed(let list)) = await nightly.result { failure = list } else { failure = nil }
        #expect(failure?.leaves.map(\.name) == ["legacy"])
        #expect(await report.result == .success("the sum is 500500"))
    }

    @Test func `dependencies with data`() async throws {
        // BEGIN DependenciesWithData
        let download = AsyncOperation("download") { [3, 1, 2] }
        let decrypt = AsyncOperation("decrypt", from: download.output) { bytes in bytes.sorted() }
        let key = AsyncOperation("key") { 10 }
        let filter = AsyncOperation("filter", from: decrypt.output, key.output) { bytes, key in
            bytes.map { $0 * key }
        }
        let cleanUp = AsyncOperation("clean-up") { print("whatever happened") }
        try cleanUp.addDependency(on: filter, .done)

        let queue = try AsyncOperationQueue("images", maxConcurrentOperationCount: 2)
        try queue.add(cleanUp, filter, decrypt, key, download)
        let image = try await filter.value
        // END DependenciesWithData
        #expect(image == [10, 20, 30])
        try await queue.waitUntilIdle()
    }

    @Test func `timeouts over a set of calls`() async throws {
        let clock = ManualClock()
        @Sendable func fetch(_ name: String) async { await untilCancelled() }
        @Sendable func oldFetch(_ name: String, done: @escaping @Sendable () -> Void) { done() }
        // BEGIN TimeoutsOverCalls
        let refresh = try CompoundOperation("refresh", options: OperationOptions(timeout: .seconds(10))) {
            for name in ["a", "b", "c"] {
                AsyncOperation(name, options: OperationOptions(timeout: .seconds(60))) { await fetch(name) }
            }
        }
        try refresh.start(clock: clock)
        // END TimeoutsOverCalls
        await clock.advance(by: .seconds(10))
        #expect(await refresh.outcome == .timeout)

        // BEGIN TimeoutsOverCalls
        let tracker = TaskTracker(clock: clock)
        let session = try tracker.begin(timeout: .seconds(10)) { end in
            print("over:", end)
        }
        for name in ["a", "b", "c"] {
            let task = session.startTask()
            oldFetch(name) { task?.end() }
        }
        session.seal()
        // END TimeoutsOverCalls
        #expect(!tracker.isRunning)

        // BEGIN TimeoutsOverCalls
        let length = try await withTimeout(.seconds(1), clock: clock) { "answer".count }
        // END TimeoutsOverCalls
        #expect(length == 6)
    }

    @Test func `sharing resources`() async throws {
        let printed = Record<String>()
        let print = { @Sendable (line: String) in printed.add(line) }
        // BEGIN SharingResources
        let converter = Pool("converter", 4)
        let album = Pool("album")

        let queue = try AsyncOperationQueue("pictures", maxConcurrentOperationCount: 16)
        for number in 1...40 {
            let load = AsyncOperation("load \(number)") { "picture \(number)" }
            let convert = AsyncOperation(
                "convert \(number)", from: load.output, options: OperationOptions(pools: [converter: 1])
            ) { picture in picture.uppercased() }
            let store = AsyncOperation(
                "store \(number)", from: convert.output, options: OperationOptions(pools: [album: 1])
            ) { picture in print(picture) }
            try queue.add(load, convert, store)
        }
        try await queue.waitUntilIdle()
        // END SharingResources
        #expect(Set(printed.entries) == Set((1...40).map { "PICTURE \($0)" }))
        #expect(printed.entries.count == 40)
    }

    @Test func `watching for deadlock`() async throws {
        // BEGIN WatchingForDeadlock
        let download = AsyncOperation("download") {}
        let decode = AsyncOperation("decode") {}
        let show = AsyncOperation("show") {}
        try decode.addDependency(on: download)
        try show.addDependency(on: decode)
        do {
            try download.addDependency(on: show)
        } catch {
            print(error)  // these would wait for each other: `download` -> `show` -> `decode` -> `download`
        }

        let album = try CompoundOperation("album", options: OperationOptions(mutexes: ["disk"])) {
            AsyncOperation("thumbnail", options: OperationOptions(mutexes: ["disk"])) {}
        }
        do {
            try album.start()
        } catch {
            print(error)  // `thumbnail` asks for mutex `disk`, which the enclosing `album` holds already
        }
        // END WatchingForDeadlock
        #expect(throws: UsageError.cycle([download.id, show.id, decode.id, download.id])) {
            try download.addDependency(on: show)
        }
        #expect(throws: UsageError.nestedMutex(outer: album.id, inner: album.members[0].id, name: "disk")) {
            try album.start()
        }
        let queue = AsyncOperationQueue()
        try queue.add(download, decode, show)
        try await queue.waitUntilIdle()
        #expect(await show.outcome == .success)

        // BEGIN WatchingForDeadlock
        let fetch = AsyncOperation("fetch") { "page" }
        let parse = AsyncOperation("parse", from: fetch.output) { page in page.count }
        try queue.add(parse)
        print(parse.waitingFor!)  // `parse` waits for `fetch`, which was never started
        try queue.add(fetch)
        // END WatchingForDeadlock
        #expect(try await parse.value == 4)
    }

    @Test func `progress in Foundation's form`() async throws {
        // BEGIN ProgressOfFoundation
        @discardableResult
        func follow(_ operation: any AsyncOperationProtocol, with progress: Progress) -> Task<Void, Never> {
            progress.cancellationHandler = { operation.cancel() }
            progress.pausingHandler = { try? operation.suspend() }
            progress.resumingHandler = { try? operation.resume() }
            return Task {
                for await done in operation.progressUpdates() {
                    progress.totalUnitCount = Int64(done.total)
                    progress.completedUnitCount = Int64(done.completed)
                }
            }
        }

        let parts = (1...4).map { number in AsyncOperation("part \(number)") { number } }
        let download = try CompoundOperation("download", mode: .serial) { parts }
        let progress = Progress(totalUnitCount: 4)
        let following = follow(download, with: progress)
        try download.start()
        // END ProgressOfFoundation
        await following.value
        #expect(await download.outcome == .success)
        #expect(progress.isFinished && progress.completedUnitCount == 4)
    }
}
