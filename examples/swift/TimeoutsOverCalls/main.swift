import AsyncOperations

// Refreshes a dashboard with three calls at once, which take at most `--limit SECONDS` together. `--slow NAME` never
// answers.

var (limit, slow) = (Duration.seconds(10), Set<String>())
var arguments = CommandLine.arguments.dropFirst()
while let option = arguments.popFirst(), let value = arguments.popFirst() {
    if option == "--limit" { limit = .seconds(Double(value) ?? 10) }
    if option == "--slow" { slow.insert(value) }
}
let names = ["glucose", "steps", "weight"]
let cloud = Cloud(slow: slow)

// As operations: each has its own result, however the others end.
let dashboard = Dashboard(cloud)
let late = try await dashboard.refresh(names, within: limit)
let values = await dashboard.values
for name in names { print("\(name): \(values[name] ?? "late")") }
print("refreshed \(values.count) of \(names.count)")

// As calls that are not operations but only counted: one session for all of them, and one session at a time.
let tracker = TaskTracker()
let (ends, ended) = AsyncStream.makeStream(of: TaskTracker.End.self)
let session = try tracker.begin(timeout: limit) { end in
    ended.yield(end)
    ended.finish()
}
do {
    _ = try tracker.begin { _ in }
} catch {
    print("no second refresh while one runs")
}
for name in names {
    let task = session.startTask()
    cloud.fetch(name) { _ in task?.end() }
}
session.seal()
for await end in ends { print("counted: \(end)") }
