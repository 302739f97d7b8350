import FlowrunTestSupport
import Foundation
import Glibc
import Testing

@testable import Processes

@Suite(.timeLimit(.minutes(20))) struct ChildProcessTests {
    init() { EventLoopThread.ensureRunning() }

    @Test @EventLoopActor func `both streams arrive whole and the status is the process's own`() async throws {
        let result = try await run("echo out; echo err >&2; exit 3")
        #expect(result.output == "out\n")
        #expect(result.error == "err\n")
        #expect(result.ending.status == .exited(3))
        #expect(!result.ending.isOutputTruncated)
    }

    @Test @EventLoopActor func `a process that a signal ended says which`() async throws {
        let result = try await run("kill -SEGV $$")
        #expect(result.ending.status == .signalled(SIGSEGV))
    }

    @Test @EventLoopActor func `much output arrives to the last byte`() async throws {
        let result = try await run("head -c 5000000 /dev/zero | tr '\\0' x")
        #expect(result.output.utf8.count == 5_000_000)
    }

    @Test @EventLoopActor func `a step has standard input from the null device and no descriptor above 2`() async throws
    {
        let result = try await run("readlink /proc/self/fd/0; for f in /proc/$$/fd/*; do echo ${f##*/}; done; cat")
        #expect(result.output.hasPrefix("/dev/null\n0\n1\n2\n"))
    }

    @Test(arguments: [0, 1, 300_000])
    @EventLoopActor func `standard input from memory arrives to the last byte and ends`(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(97 + $0 % 26) }
        let result = try await run("cat; read again && echo more", input: bytes)
        #expect(result.output == String(decoding: bytes, as: UTF8.self))
    }

    @Test @EventLoopActor func `a step leads a session of its own, with no signal blocked or ignored`() async throws {
        EventLoopThread.takeSignals()
        let result = try await run("ps -o sid= -p $$; echo $$; exec grep -E 'SigBlk|SigIgn' /proc/self/status")
        let words = result.output.split(whereSeparator: \.isWhitespace)
        try #require(words.count == 6)
        #expect(words[0] == words[1])
        #expect(words[3] == "0000000000000000")
        // 32 and 33 are glibc's own, out of reach for programs.
        #expect(UInt64(words[5], radix: 16).map { $0 & 0x7FFF_FFFF } == 0)
    }

    @Test @EventLoopActor func `a missing program and a missing folder are told apart`() async throws {
        for (path, folder, subject) in [
            ("/nowhere/x", "/", SpawnError.Subject.program), ("/bin/true", "/nowhere", .workingDirectory),
        ] {
            let error = SpawnError(errno: ENOENT, subject: subject)
            let observer = Observer()
            try start(path: path, folder: folder, for: observer)
            #expect(await observer.wait().status == .notStarted(error))
            #expect(observer.exits == [.notStarted(error)])
            #expect(command(path, folder: folder).obstacle == error)
        }
    }

    @Test @EventLoopActor func `a stop ends a whole group whose leader dies at once and whose member is deaf`()
        async throws
    {
        let script = "bash -c 'trap \"\" TERM; echo up $$; while :; do sleep 1; done' & wait"
        let result = try await run(script, stopWhen: "up", grace: .seconds(1))
        #expect(result.ending.status == .signalled(SIGTERM))
        #expect(result.ending.leftBehind > 0)
        #expect(result.signals == [SIGTERM, SIGCONT, SIGKILL])
        #expect(!isAlive(result.pid(after: "up")))
    }

    @Test @EventLoopActor func `a stop does not wait for the grace when everything is gone`() async throws {
        // Were the grace waited for, the test would hang.
        let result = try await run("echo up; exec sleep 86400", stopWhen: "up", grace: .seconds(86_400))
        #expect(result.ending.status == .signalled(SIGTERM))
    }

    @Test @EventLoopActor func `a stopped process hears of its end`() async throws {
        let result = try await run("echo up; kill -STOP $$; echo on", stopWhen: "up", grace: .seconds(1000))
        #expect(result.ending.status == .signalled(SIGTERM))
    }

    @Test @EventLoopActor func `no grace means KILL at once`() async throws {
        let result = try await run("trap '' TERM; echo up; while :; do sleep 1; done", stopWhen: "up", grace: .zero)
        #expect(result.ending.status == .signalled(SIGKILL))
        #expect(result.signals == [SIGKILL])
    }

    @Test @EventLoopActor func `what outlives the first process is killed when the drain window is over`() async throws
    {
        let result = try await run("sleep 1000 & echo up $!; exit 0")
        #expect(result.ending.status == .exited(0))
        #expect(result.ending.leftBehind == 1)
        #expect(result.ending.escaped == 0)
        #expect(!isAlive(result.pid(after: "up")))
    }

    @Test @EventLoopActor func `a process that has left the session is killed with the others, and counted`()
        async throws
    {
        let result = try await run("setsid sleep 9999 & echo up $!; exit 0")
        #expect(result.ending.escaped == 1)
        #expect(result.ending.leftBehind == 1)
        #expect(result.ending.remaining == nil)
        #expect(!isAlive(result.pid(after: "up")))
    }

    @Test @EventLoopActor func `neither an empty environment nor a daemon's way out hides a process`() async throws {
        let result = try await run(
            "env -i setsid sh -c 'env -i setsid sleep 9999 <&- >&- 2>&- & echo up $!'; exec sleep 9999",
            stopWhen: "up", grace: .seconds(1000))
        #expect(result.ending.escaped >= 1)
        #expect(!isAlive(result.pid(after: "up")))
    }

    @Test @EventLoopActor func `a pipe that somebody outside holds open does not hold up the end`() async throws {
        let observer = Observer()
        let process = try start(
            path: "/bin/bash", arguments: ["-c", "echo up; kill -STOP $$; exit 0"], for: observer)
        var holder: Int32 = -1
        observer.onOutput = {
            holder = open("/proc/\(process.pid)/fd/1", O_WRONLY | O_CLOEXEC)
            kill(process.pid, SIGCONT)
        }
        // It may be continued before it has stopped.
        process.thaw()
        let again = EventLoopClock()
        while holder < 0 { try await again.sleep(until: again.now.advanced(by: .milliseconds(1))) }
        for _ in 0..<1000 where isAlive(process.pid) {
            kill(process.pid, SIGCONT)
            try await again.sleep(until: again.now.advanced(by: .milliseconds(1)))
        }
        let ending = await observer.wait()
        close(holder)
        #expect(ending.status == .exited(0))
        #expect(ending.isOutputTruncated)
    }

    @Test @EventLoopActor func `every command has a mark of its own, which all of its processes inherit`() async throws
    {
        let script = "for _ in 1 2; do setsid bash -c 'ulimit -R' | cat; done"
        let first = try await run(script).output.split(separator: "\n")
        let second = try await run(script).output.split(separator: "\n")
        try #require(first.count == 2 && second.count == 2)
        #expect(first[0] == first[1])
        #expect(first[0] != second[0])
    }

    @Test @EventLoopActor func `a command waits with its output while nobody may read it`() async throws {
        let observer = Observer()
        observer.refusals = 3
        observer.onOutput = { #expect(observer.refusals == 0) }
        try start(path: "/bin/bash", arguments: ["-c", "head -c 1000000 /dev/zero"], for: observer)
        _ = await observer.wait()
        #expect(observer.output.count == 1_000_000)
    }

    @Test @EventLoopActor func `what is written behind the first process arrives, however late it may be read`()
        async throws
    {
        let observer = Observer()
        // More than the drain window, were it to go on: it is asked every 20 ms.
        observer.refusals = 150
        try start(path: "/bin/bash", arguments: ["-c", "(seq 1 40000; echo END) & exit 0"], for: observer)
        let ending = await observer.wait()
        #expect(String(decoding: observer.output.suffix(10), as: UTF8.self) == "40000\nEND\n")
        #expect(!ending.isOutputTruncated && ending.escaped == 0)
    }

    @Test @EventLoopActor func `a kill takes along what stands in the pipe, whether or not it may be read`()
        async throws
    {
        let observer = Observer()
        observer.refusals = .max
        let process = try start(path: "/bin/bash", arguments: ["-c", "echo hello; kill -STOP $$"], for: observer)
        var info = siginfo_t()
        while waitid(P_PID, id_t(process.pid), &info, WSTOPPED | WNOWAIT | WNOHANG) == 0, info.si_code == 0 {
            await turn()
        }
        process.killAll()
        let ending = await observer.wait()
        #expect(observer.output == Array("hello\n".utf8))
        #expect(!ending.isOutputTruncated)
    }

    @Test @EventLoopActor func `an observer is forgotten with the last call, and nothing of a process stays`()
        async throws
    {
        weak var observer: Observer?
        weak var process: (any RunningProcess)?
        do {
            let watching = Observer()
            observer = watching
            process = try start(path: "/bin/echo", arguments: ["x"], for: watching)
            _ = await watching.wait()
        }
        // What the end was told to may still be on its way out of the process' own code.
        await turn()
        #expect(observer == nil)
        #expect(process == nil)
    }

    @Test @EventLoopActor func `streams share a pipe and keep their order unless they are to be told apart`()
        async throws
    {
        let result = try await run("for n in 1 2 3; do echo $n; echo -$n >&2; done", separate: false)
        #expect(result.combined == "1\n-1\n2\n-2\n3\n-3\n")
        #expect(result.output + result.error == "")
    }

    @Test @EventLoopActor func `an environment is what it is made of, and later changes win`() async throws {
        let first: [(name: String, value: String?)] = [("A", "1"), ("B", "2"), ("C", "3"), ("PATH", "/usr/bin:/bin")]
        let second: [(name: String, value: String?)] = [("B", nil), ("C", "x=y"), ("C", "4"), ("AA", "5")]
        let base = EnvironmentBlock(EnvironmentBlock(inheriting: nil), changes: first)
        let block = EnvironmentBlock(base, changes: second)
        #expect(block["A"] == "1")
        #expect(block["B"] == nil)
        #expect(block["C"] == "4")
        let result = try await run("env", environment: block)
        #expect(Set(result.output.split(separator: "\n")).isSuperset(of: ["A=1", "C=4", "AA=5"]))
        #expect(!result.output.contains("B=2"))
    }

    @Test @EventLoopActor func `a variable that is not set does not cut off those behind it`() async throws {
        let changes: [(name: String, value: String?)] = [("A", "1"), ("C", "3"), ("PATH", "/usr/bin:/bin")]
        let base = EnvironmentBlock(EnvironmentBlock(inheriting: nil), changes: changes)
        let block = EnvironmentBlock(base, keeping: ["A", "B", "C", "PATH"])
        let result = try await run("env", environment: block, additions: [("D", "4"), ("E", "")])
        #expect(Set(result.output.split(separator: "\n")).isSuperset(of: ["A=1", "C=3", "D=4", "E="]))
        #expect(block.variables.map(\.name) == ["A", "C", "PATH"])
    }

    @Test @EventLoopActor func `a thousand processes leave no descriptor behind`() async throws {
        _ = try await run("true")
        let before = descriptors()
        for _ in 0..<1000 { _ = try await run(nil) }
        // Other tests have some of their own.
        #expect(descriptors() < before + 200)
    }
}

// MARK: Running things

private struct Result {
    let ending: ProcessEnding
    let output: String
    let error: String
    let combined: String
    let signals: [Int32]

    /// The number that stands behind a word in the output.
    func pid(after word: String) -> Int32 {
        let words = output.split(whereSeparator: \.isWhitespace)
        return words.firstIndex { $0 == word }.flatMap { Int32(words[$0 + 1]) } ?? 0
    }
}

@EventLoopActor
final class Observer: ProcessObserver {
    var output: [UInt8] = []
    var error: [UInt8] = []
    var combined: [UInt8] = []
    var signals: [Int32] = []
    var exits: [ProcessEnding.Status] = []
    var lingers = 0
    /// How often it does not take output yet.
    var refusals = 0
    var onOutput: (@EventLoopActor () -> Void)?
    private var ending: ProcessEnding?
    private var waiter: CheckedContinuation<Void, Never>?

    var mayTakeOutput: Bool {
        guard refusals > 0 else { return true }
        refusals -= 1
        return false
    }

    func process(wrote bytes: UnsafeRawBufferPointer, to stream: Processes.OutputStream) {
        switch stream {
        case .combined: combined.append(contentsOf: bytes)
        case .standardOutput: output.append(contentsOf: bytes)
        case .standardError: error.append(contentsOf: bytes)
        }
        onOutput?()
    }

    func process(exited status: ProcessEnding.Status) { exits.append(status) }

    func processLingers() { lingers += 1 }

    func process(sent signal: Int32) { signals.append(signal) }

    func process(ended ending: ProcessEnding) {
        #expect(self.ending == nil)
        self.ending = ending
        onOutput = nil
        waiter.take()?.resume()
    }

    func wait() async -> ProcessEnding {
        if ending == nil { await withCheckedContinuation { waiter = $0 } }
        return ending!
    }
}

@EventLoopActor
func command(
    _ path: String, _ arguments: [String] = [], folder: String? = nil, environment: EnvironmentBlock? = nil,
    additions: [(name: String, value: String)] = [], input: MemoryFile? = nil, separate: Bool = true
) -> ProcessCommand {
    ProcessCommand(
        path: path, arguments: [path] + arguments, environment: environment ?? EnvironmentBlock(inheriting: environ),
        additions: additions, workingDirectory: folder, standardInput: input, separatesStreams: separate)
}

@EventLoopActor
@discardableResult
private func start(
    path: String, arguments: [String] = [], folder: String? = nil, for observer: Observer
) throws(SpawnError) -> any RunningProcess {
    try ProcessSpawner.shared.start(command(path, arguments, folder: folder), for: observer)
}

/// Runs a script, or `true`; stops it as soon as a word has come out of it.
@EventLoopActor
private func run(
    _ script: String?, environment: EnvironmentBlock? = nil, additions: [(name: String, value: String)] = [],
    input: [UInt8]? = nil, separate: Bool = true, stopWhen word: String? = nil, grace: Duration = .zero
) async throws -> Result {
    let observer = Observer()
    let file = try input.map { try MemoryFile($0) }
    let process = try ProcessSpawner.shared.start(
        command(
            script == nil ? "/bin/true" : "/bin/bash", script.map { ["-c", $0] } ?? [], environment: environment,
            additions: additions, input: file, separate: separate),
        for: observer)
    if let word {
        observer.onOutput = {
            guard String(decoding: observer.output, as: UTF8.self).contains("\(word)") else { return }
            process.terminate(with: SIGTERM, grace: grace)
        }
    }
    let ending = await observer.wait()
    return Result(
        ending: ending, output: String(decoding: observer.output, as: UTF8.self),
        error: String(decoding: observer.error, as: UTF8.self),
        combined: String(decoding: observer.combined, as: UTF8.self), signals: observer.signals)
}

/// Lets the loop finish what it is doing now.
@EventLoopActor
func turn() async {
    await withCheckedContinuation { done in Poller.shared.after(.milliseconds(1)) { done.resume() } }
}

func isAlive(_ pid: Int32) -> Bool {
    guard pid > 0, let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
    return !status.contains(") Z ")
}

func descriptors() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
}
