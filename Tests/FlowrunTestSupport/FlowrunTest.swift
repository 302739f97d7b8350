import Foundation
import Glibc

/// A temporary folder with a workflow and other files, and the program run in it.
///
///     let test = try FlowrunTest("""
///         version: 1
///         steps:
///           hello: { run: echo hello }
///         """)
///     let result = try await test.run("workflow.yml")
///
/// The folder goes when the test lets go of it. Only so many programs run at once as there are cores, so that a test's
/// own timeouts mean something while others run.
package final class FlowrunTest: Sendable {
    /// The folder's path, links resolved.
    package let folder: String
    let cookie = "TEST_COOKIE=\(UUID().uuidString)"

    /// Makes the folder; `workflow` becomes `workflow.yml`.
    package init(_ workflow: String? = nil, files: [String: String] = [:]) throws {
        let base = FileManager.default.temporaryDirectory.appending(path: "flowrun-test-XXXXXX").path
        var template = Array(base.utf8CString)
        guard mkdtemp(&template) != nil, let path = realpath(template, nil) else {
            throw SystemError(operation: "mkdtemp", subject: base, code: errno)
        }
        folder = String(cString: path)
        free(path)
        if let workflow { try write(workflow, to: "workflow.yml") }
        for (name, text) in files { try write(text, to: name) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Ends a program that hangs, and with it the test. On a busy machine a run may take minutes.
    package static let deadline = Duration.seconds(1200)

    // MARK: - Files

    package func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Writes a file, and the folders it needs.
    package func write(_ text: String, to name: String) throws {
        try write(Array(text.utf8), to: name)
    }

    package func write(_ bytes: [UInt8], to name: String) throws {
        let place = URL(filePath: path(name))
        let parent = place.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
        try Data(bytes).write(to: place)
    }

    package func contents(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path(name))), as: UTF8.self)
    }

    package func exists(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: path(name))
    }

    package func gate(_ name: String) throws -> Gate { try Gate(path: path(name)) }

    // MARK: - Running

    /// Runs the program to its end. `launcher` stands in front of it, for what a shell can do better:
    /// `["sh", "-c", #"exec "$0" "$@" > /dev/full"#]`. A nil in `environment` takes a variable away.
    package func run(
        _ arguments: String..., environment: [String: String?] = [:], stdin: StandardInput = .null,
        launcher: [String] = [], in subfolder: String = "", deadline: Duration = FlowrunTest.deadline
    ) async throws -> FlowrunResult {
        let running = try await start(
            arguments, environment: environment, stdin: stdin, launcher: launcher, in: subfolder, deadline: deadline)
        return try await running.finish()
    }

    /// Runs `workflow.yml` with the JSON log on standard output.
    package func runLogged(
        _ options: String..., environment: [String: String?] = [:], deadline: Duration = FlowrunTest.deadline
    ) async throws -> FlowrunResult {
        let arguments = ["run", "workflow.yml", "--log", "json"] + options
        return try await start(arguments, environment: environment, deadline: deadline).finish()
    }

    /// Starts the program and comes back while it runs.
    package func start(
        _ arguments: String..., environment: [String: String?] = [:], stdin: StandardInput = .null,
        launcher: [String] = [], deadline: Duration = FlowrunTest.deadline
    ) async throws -> RunningFlowrun {
        try await start(arguments, environment: environment, stdin: stdin, launcher: launcher, deadline: deadline)
    }

    /// The same with the arguments in a list; `in` names the subfolder to run in.
    package func start(
        _ arguments: [String], environment: [String: String?] = [:], stdin: StandardInput = .null,
        launcher: [String] = [], in subfolder: String = "", deadline: Duration = FlowrunTest.deadline
    ) async throws -> RunningFlowrun {
        guard FileManager.default.isExecutableFile(atPath: FlowrunBinary.path) || !launcher.isEmpty else {
            throw MissingBinary()
        }
        await RunSlots.shared.take()
        do {
            let spawn = Spawn(
                arguments: launcher + [FlowrunBinary.path] + arguments,
                environment: Self.environment(with: environment, cookie: cookie), folder: path(subfolder))
            let child = try ChildProcess(spawn, stdin: stdin, deadline: deadline) { RunSlots.shared.give() }
            return RunningFlowrun(child, test: self)
        } catch {
            RunSlots.shared.give()
            throw error
        }
    }

    /// Starts the program on a terminal of its own. `launcher` as in `run`.
    package func startOnTerminal(
        _ arguments: [String], environment: [String: String?] = [:], launcher: [String] = [], columns: Int = 80,
        rows: Int = 24
    ) async throws -> TerminalSession {
        await RunSlots.shared.take()
        do {
            let changes = ["TERM": "xterm"].merging(environment) { $1 }
            let spawn = Spawn(
                arguments: launcher + [FlowrunBinary.path] + arguments,
                environment: Self.environment(with: changes, cookie: cookie), folder: folder)
            return try TerminalSession(spawn, columns: columns, rows: rows, deadline: Self.deadline) {
                RunSlots.shared.give()
            }
        } catch {
            RunSlots.shared.give()
            throw error
        }
    }

    /// Runs the program to its end beside another one of the same test, such as `flowrun ctl` beside a run.
    package func ask(
        _ command: String, _ words: String..., environment: [String: String?] = [:], stdin: StandardInput = .null
    ) async throws -> FlowrunResult {
        try await startBeside([command] + words, environment: environment, stdin: stdin).finish()
    }

    /// Starts the program beside another one of the same test, with which it shares its slot: a test that holds one
    /// slot and waits for a second could block forever for others like it.
    package func startBeside(
        _ arguments: [String], environment: [String: String?] = [:], stdin: StandardInput = .null,
        launcher: [String] = []
    ) throws -> RunningFlowrun {
        let spawn = Spawn(
            arguments: launcher + [FlowrunBinary.path] + arguments,
            environment: Self.environment(with: environment, cookie: cookie), folder: folder)
        return RunningFlowrun(try ChildProcess(spawn, stdin: stdin, deadline: FlowrunTest.deadline) {}, test: self)
    }

    /// What a program needs to run, and nothing of the make or CI job that runs the tests.
    private static func environment(with changes: [String: String?], cookie: String) -> [String: String] {
        let kept = ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"]
        var result = ProcessInfo.processInfo.environment.filter { kept.contains($0.key) }
        result["LANG"] = "C.UTF-8"
        let parts = cookie.split(separator: "=")
        result[String(parts[0])] = String(parts[1])
        for (name, value) in changes { result[name] = value }
        return result
    }
}

/// The tests were built without the program.
struct MissingBinary: Error, CustomStringConvertible {
    var description: String { "no program at \(FlowrunBinary.path); `swift build` makes it" }
}
